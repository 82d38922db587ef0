! Fixed form, FORTRAN 77: statement labels, computed GO TO, an arithmetic IF, ENTRY, EQUIVALENCE, DATA, a statement
! function, continuation lines.
! MODE: golden
      PROGRAM FIXED
      INTEGER A(4), B(2), S
      EQUIVALENCE (A(3), B(1))
      DATA A /1, 2, 3, 4/
      TWICE(X) = 2.0 * X
      S = 0
      DO 10 I = 1, 4
        GO TO (1, 2, 3), I
        S = S + 1000
        GO TO 10
    1   S = S + 1
        GO TO 10
    2   S = S + 10
        GO TO 10
    3   S = S +
     &      100
   10 CONTINUE
      IF (S - 1111) 20, 30, 20
   20 PRINT *, 'WRONG'
   30 CALL THIRD(S)
      WRITE (*, '(I6, I3, F6.1)') S, B(2), TWICE(2.5)
      END
      SUBROUTINE FIRST(N)
      N = N + 1
      ENTRY THIRD(N)
      N = N + 2
      END
