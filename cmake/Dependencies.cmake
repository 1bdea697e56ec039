# Debian's packages as imported targets, and a message that says what to install.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(salvo_need prefix module package)
  pkg_check_modules(${prefix} IMPORTED_TARGET ${module})
  if(NOT ${prefix}_FOUND)
    message(FATAL_ERROR "${module} is missing: install ${package} (Debian), or run tools/quickstart, which does")
  endif()
endfunction()

salvo_need(ZMQ libzmq libzmq3-dev)
salvo_need(CZMQ libczmq>=4.2 libczmq-dev)
salvo_need(URING liburing>=2.3 liburing-dev)
# msgpack-c renamed its module in version 6.
pkg_search_module(MSGPACK IMPORTED_TARGET msgpack msgpack-c)
if(NOT MSGPACK_FOUND)
  message(FATAL_ERROR "msgpack is missing: install libmsgpack-dev (Debian), or run tools/quickstart, which does")
endif()
salvo_need(YAML yaml-0.1 libyaml-dev)
salvo_need(JANSSON jansson libjansson-dev)
salvo_need(BLKID blkid libblkid-dev)
salvo_need(MOUNT mount libmount-dev)
salvo_need(UDEV libudev libudev-dev)
if(BUILD_TESTING)
  salvo_need(CRITERION criterion libcriterion-dev)
endif()
pkg_check_modules(SYSTEMD IMPORTED_TARGET libsystemd) # optional
