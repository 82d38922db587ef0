! Open MPI's mpif.h without mpif-sizeof.h: flang 22 refuses those interfaces of MPI_SIZEOF, because it has no REAL128
! here, and two of one generic that differ in nothing else. All that is included here is Open MPI's own.
      include 'mpif-config.h'
      include 'mpif-constants.h'
      include 'mpif-handles.h'
      include 'mpif-io-constants.h'
      include 'mpif-io-handles.h'
      include 'mpif-externals.h'
      include 'mpif-sentinels.h'
