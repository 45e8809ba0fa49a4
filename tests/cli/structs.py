"""Defines structs of the public header for ctypes, initialized with the library's defaults."""
import ctypes as C


class Sized(C.Structure):
    """A struct whose first field is its size. `made_by` initializes it like the macro in the header."""

    @classmethod
    def made_by(cls, library, name):
        made = cls()
        init = getattr(library, f"ddsc_{name}_init_sized")
        init.argtypes, init.restype = [C.c_void_p, C.c_size_t], None
        init(C.byref(made), C.sizeof(made))
        assert made.struct_size == C.sizeof(made)
        return made


class Transport(Sized):
    _fields_ = [("struct_size", C.c_size_t)]
    _fields_ += [(name, C.c_void_p) for name in
                 ("plan_row", "plan_column", "plan_mass", "plan", "f", "g")]
    _fields_ += [(name, C.c_double) for name in ("value", "primal", "dual", "gap")]
    _fields_ += [("n_plan", C.c_int64), ("n_iterations", C.c_int64)]


class TransportProblem(Sized):
    _fields_ = [("struct_size", C.c_size_t), ("n", C.c_int64), ("m", C.c_int64)]
    _fields_ += [(name, C.c_void_p) for name in ("a", "b", "cost")]


class SinkhornSettings(Sized):
    _fields_ = [("struct_size", C.c_size_t), ("epsilon", C.c_double), ("value", C.c_int),
                ("tolerance", C.c_double), ("max_iterations", C.c_int64)]


def problem_of(library, a, b, cost):
    """The arrays must outlive the returned struct."""
    asked = TransportProblem.made_by(library, "transport_problem")
    asked.n, asked.m = cost.shape
    asked.a, asked.b, asked.cost = (x.ctypes.data for x in (a, b, cost))
    return asked
