! A source that is preprocessed (.F90), in which __CONTECH__ is 1 when contech-fc compiles it.
! MODE: golden
! FLAGS: -DVALUE=12
#if defined(__CONTECH__) && __CONTECH__ != 1
#error "what does it mean?"
#endif
program preprocessed
  implicit none
#ifdef VALUE
  integer :: n = VALUE
#endif
  print '(i0)', n
end program
