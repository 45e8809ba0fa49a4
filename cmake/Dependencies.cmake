# What ddsc links with. Bits must not depend on the thread count, so the OpenMP build of OpenBLAS is
# preferred by path: it honours the per-thread OpenMP setting that src/base/parallel.c uses.
find_package(ZLIB REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
if(NOT DDSC_LIBRARY_ONLY)
  find_path(JANSSON_INCLUDE jansson.h REQUIRED)
  find_library(JANSSON_LIBRARY jansson REQUIRED)
endif()
find_library(OPENBLAS_LIBRARY openblas
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
find_library(OPENBLAS_LIBRARY openblas REQUIRED)
find_path(CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-openmp openblas
  HINTS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} REQUIRED)
find_path(LAPACKE_INCLUDE lapacke.h REQUIRED)
find_library(LAPACKE_LIBRARY lapacke REQUIRED)
get_filename_component(DDSC_BLAS_RPATH ${OPENBLAS_LIBRARY} DIRECTORY)

add_library(ddsc_dependencies INTERFACE)
target_include_directories(ddsc_dependencies SYSTEM INTERFACE ${CBLAS_INCLUDE} ${LAPACKE_INCLUDE})
target_link_libraries(ddsc_dependencies INTERFACE ZLIB::ZLIB ${LAPACKE_LIBRARY} ${OPENBLAS_LIBRARY}
  Threads::Threads m)
set(DDSC_FEATURES "openblas zlib")
if(NOT DDSC_LIBRARY_ONLY)
  target_include_directories(ddsc_dependencies SYSTEM INTERFACE ${JANSSON_INCLUDE})
  target_link_libraries(ddsc_dependencies INTERFACE ${JANSSON_LIBRARY})
  string(APPEND DDSC_FEATURES " jansson")
endif()

# Only the program draws, and only `ddsc report --plots` needs it.
find_path(CAIRO_INCLUDE cairo.h PATH_SUFFIXES cairo)
find_library(CAIRO_LIBRARY cairo)
if(CAIRO_INCLUDE AND CAIRO_LIBRARY)
  string(APPEND DDSC_FEATURES " cairo")
endif()

option(DDSC_OPENMP "Use threads (OpenMP)" ON)
if(DDSC_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS C)
  target_link_libraries(ddsc_dependencies INTERFACE OpenMP::OpenMP_C)
  string(PREPEND DDSC_FEATURES "openmp ")
endif()
