"""The fixtures of the end-to-end tests, which are in ../cli."""
import importlib.util
import pathlib

_spec = importlib.util.spec_from_file_location("cli_fixtures", pathlib.Path(__file__).parents[1] / "cli" / "conftest.py")
_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cli)
program, source, data_dir, ddsc = _cli.program, _cli.source, _cli.data_dir, _cli.ddsc
