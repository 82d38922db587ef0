//! The statements and expressions of the generated programs, and what `main` does, as a grammar.
//!
//! A line that is not indented names a rule. Those below it are what the rule can be: a weight (0 if
//! nothing else can be), what it needs ([`Generator::has`]; `-` for nothing), and the text. In a
//! text, `$name` is a name of its own, and `@name` is drawn ([`Generator::word`]): by another rule,
//! or, with a number behind it, an expression (`e`) or condition (`c`) of that level, or an index
//! (`i`) below the number. `@[a b]` is one of the words, `@<1-9>` one of the numbers. `$name` is the
//! same in all of a text and in what the text draws, and so is `@Name`; nested statements have their
//! own.
//!
//! Expressions are of type `u64`. No text has undefined behaviour, and every loop ends, whatever its
//! body does to memory. A statement declares nothing for other statements.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Generator;
use super::scope::{Array, Suspend};
use super::shape::{Signals, Threads};

const GRAMMAR: &str = r#"
statement
  26 -          @simple
  26 -          @loop
  11 -          @kernel
  13 -          @branch
   6 -          @switch
  22 -          @call
   6 c,near     @goto
  12 -          @memory
simple
   5 -          @store
   2 vars       @variable(@e0);
   1 doubles    @Double = @Double * 0.5 + (double)(@e1 & 255u);
   1 -          acc += __atomic_fetch_@[add xor or](&pool[@i64].c[0], (u32)(@e2), 5);
   1 -          @vector
   1 threads    __atomic_fetch_add(&shared_sum, @e2 & 255u, 0);
   1 -          pool_copy(&pool[@i64], &pool[@i64]);
   2 -          acc = acc * 31u + (@e0);
store
   8 -          @place = @e0;
   4 -          @Place = (u64)@Place + (@e0);
   4 -          @Place = (u64)@Place ^ (@e0);
   1 reals      @real = (float)(@e1 & 1023u);
   1 reals      @Real = @Real * (float)0.5 + (float)(@e2 & 63u);
   1 reals      @real *= (float)0.25;
vector
   1 -          { @Lanes vx, vy; memcpy(&vx, @bytes32, sizeof vx); memcpy(&vy, @bytes32, sizeof vy); vy = vx @[+ * ^ - &] vy; @lanewise @unload acc += (u64)vy[@<0-3>]; }
lanes
   1 -          @[u32x4 u32x8 u16x16 u64x4]
lanewise
   1 -          vy = (@Lanes)(vx > vy) & vx;
   1 -          vy = (@Lanes)__builtin_shufflevector(vx, vy, TURN_@Lanes);
   1 -          vy += vx;
unload
   7 -          memcpy(@bytes32, &vy, sizeof vy);
   3 -          ;
branch
   1 -          if (@c0) {@block}
   1 -          if (@c0) {@block} else {@block}
   1 -          if (@c0) {@block} else if (@c1) {@block} else {@one}
memory
   3 -          @moved
   1 <=8        { u32 *$h = (u32 *)@[malloc(256) calloc(64,4) realloc(0,256)]; for (u32 z = 0; z < 64; z++) $h[z] = z * @<1-99>u; for (u32 z = 1; z < 64; z++) $h[z] += $h[z - 1] + $h[$h[z] & 63]; acc += $h[@i64]; free($h); }
   1 outside    { u32 $n = (u32)(@e2) & 31; u32 *$x = (u32 *)__builtin_alloca(4 * ($n + 1)); for (u32 q = 0; q <= $n; q++) $x[q] = q ^ (u32)acc; acc += $x[$n / 2]; }
   1 <=4        qsort(gw, 32, 4, by_value);
   1 -          acc += strlen(&"abcdefghijklmno"[@i16]);
   2 -          @localarray
   2 -          @localinteger
call
   6 <=24       @direct
   2 <=24       acc += table[@i4](@e1, &pool[@i64], d + 1);
   1 <=24       acc ^= sum_of(@<0-4>, @e1, @e2, acc, (u64)vol);
   1 <=24       { struct P z = turned(made(@e1), (u32)(@e2)); acc += z.a ^ z.c[z.b % 12]; }
   1 <=24       acc += many(@e1, 2, @e2, 4, acc, 6, &pool[@i64], 8, 9, 2.5);
   2 -          @leaf
   4 <=24,cxx   @exception
   3 <=24,c     @jump
   1 <=24,cxx   acc += things[@i4]->turn(@e1);
   1 <=24       acc += vary(@varied);
   1 <=24       acc += variadic[@i2](@varied);
   2 <=24,signals      if (@c1) raise(@[10 10 12 23]);
   3 <=24,coroutines   @driven
   3 <=24,suspends     @suspended
   4 -          @leave
direct
   1 -          acc += @function(@e1, &pool[@i64], d + 1);
argument
   3 -          u @e2
   1 -          i (int)(@e2)
   1 -          d (double)(@e2 & 255u)
   1 -          p made(@e2)
   1 -          s &pool[@i64]
   1 -          f table[@i4]
leave
   7 breakable  if (@c0) @[break continue];
   3 -          if (@c0 && @c1) @return
return
   1 plain      return acc + (@e2);
   1 yields     co_return;
   1 awaits     co_return acc + (@e2);
exception
   2 -          if (d > 1 && @c0) throw (int)(acc & 15);
   1 -          if (d > 1 && @c0) throw Oops{@e1, 3};
   1 -          { Guard $guard(@e1);@two}
   1 -          try {@deep if (@c1) throw (int)(acc & 7); @direct } catch (int e) { acc += e; }
   1 -          try { Guard $guard(@e1); @direct } catch (const Oops &e) { acc ^= e.a;@handler} catch (...) { acc += 77; }
   1 -          try { try { @direct if (@c1) throw 5; } catch (int) { Guard $guard(acc); throw; } } catch (int e) { acc += 9 * e; } catch (Oops &e) { acc += e.b; }
   1 -          for (int $k = 0; $k < 4; $k++) { try { if (@c1) throw $k; @direct } catch (int e) { acc += e; if (e > 9) break; continue; } catch (Oops) { acc -= 3; } }
   1 -          try { Guard $guard(@e1); @direct Guard $other(acc); @direct } catch (...) { acc += 1; if (d > 2) throw; }
   1 -          try { acc += thrown(@e1, @<0-5>); } catch (int e) { acc ^= e; } catch (Oops &e) { acc -= e.a; }
   1 -          try { Heavy $heavy(@e1); @direct Stubborn $stubborn(acc); acc += thrown(acc, @<0-5>); } catch (int e) { Heavy $heavy(e); if (d > 2) throw; acc += e; } catch (...) { Stubborn $stubborn(acc); if (d > 2) throw; acc += 1; }
   1 -          for (int $k = 0; $k < 3; $k++) { Heavy $heavy($k); try { try { acc += thrown(@e1, @<0-5>); } catch (int) { Stubborn s($k); throw; } } catch (int e) { if (e > 9) break; continue; } catch (...) { acc += 5; } }
jump
   4 -          if (d > 1 && jumps > 0 && @c0) longjmp(places[jumps - 1], 1 + (int)(acc & 3));
   2 -          if (jumps < 8) { int $q = jumps++; if (!setjmp(places[$q])) { acc += jumped(@e1, @<0-6>); } else { acc += 11; } jumps = $q; }
   4 -          if (jumps < 8) { int $q = jumps++; if (!setjmp(places[$q])) { @direct } else { acc += 5; } jumps = $q; }
gotos
   3 -          { int $k = 0; $L: ;@deep@deep if (++$k < @<2-5> && @c0) goto $L; }
   2 -          { int $k = 0; if (@c0) goto $M; $L: ;@deep $M: ;@deep if (++$k < @<2-5>) goto $L; }
   1 -          { int $k = 0; if (@c0) goto $M; for (; $k < @<2-5>; $k++) {@deep $M: ;@deep} }
   1 -          { static void *const $to[] = {&&$L, &&$M, &&$E}; int $k = 0; goto *$to[(@e1) % 3]; $L: ;@deep if (++$k > @<2-5>) goto $E; goto *$to[acc % 3]; $M: ;@deep if (++$k < @<2-5>) goto *$to[(acc >> 3) & 1]; $E: ; }
   1 -          { asm goto("testl %0, %0; jne %l1" : : "r"((int)(@c0)) : "cc" : $L);@deep $L: ;@deep}
frame
   1 -          static NOINL void begin(void) { for (int i = 0; i < 63; i++) { pool[i].next = i % @<3-9> ? &pool[i + 1] : 0; pool[i].a = i; } head = &pool[@<0-39>]; @filled @things }
things
   1 cxx        for (int i = 0; i < 4; i++) { things[i] = i & 1 ? new Thing() : new Other(); things[i]->k = i; }
   0 -
fill
   1 -          for (int i = 0; i < @len; i++) @array[i] = (@ty)(i * @<1-50> % 251);
end
   1 -          static NOINL u64 end(void) { u64 h = acc; @summed for (int i = 0; i < 64; i++) h = h * 31 + (u64)pool[i].a + (u64)pool[i].b + pool[i].c[2] + (u64)pool[i].d; for (int i = 0; i < 256; i++) h = h * 31 + grid[i / 16][i % 16]; for (int i = 0; i < 16; i++) h = h * 31 + bits[i].q + bits[i].t; @turns return h; }
sum
   1 -          for (int i = 0; i < @len; i++) h = h * 31 + @whole@array[i];
turns
   1 cxx        for (int i = 0; i < 4; i++) { h += things[i]->turn(1); delete things[i]; }
   0 -
work
   1 -          static NOINL u64 work(u64 seed) { begin(); for (int r = 0; r < @<1-3>; r++) { fuel = @<10-50>; @calls @loads @forks @describe } return end(); }
begun
   1 cxx        try { acc += @function(@<0-999>u + r + seed, &pool[@<0-59>], 0); } catch (int e) { acc += e; } catch (Oops &e) { acc ^= e.a; }
   1 c          jumps = 1; if (!setjmp(places[0])) { acc += @function(@<0-999>u + r + seed, &pool[@<0-59>], 0); } jumps = 0;
loads
   1 plugins    @loaded @loaded
   1 plugins    @loaded @loaded @loaded
   1 plugins    @loaded @loaded @loaded @loaded
   1 plugins    @loaded @loaded @loaded @loaded @loaded
   0 -
loaded
   1 -          acc += loaded(PLACE(@[one two]), seed + @<0-98>u, @[0 0 0 0 0 0 1]);
forks
   1 forks      @fork
   1 forks      @fork @fork
   1 forks      @fork @fork @fork
   0 -
fork
   1 alone      acc += forked(@<0-6>, @<0-999>u + seed);
   1 threads    acc += forked(0, @<0-999>u + seed);
describe
   1 descriptors,alone     acc += descriptors(@<0-4294967295>u, 1);
   1 descriptors,threads   acc += descriptors(@<0-4294967295>u, 0);
   0 -
main
   1 alone      @first printf("%lu\n", work(0)); printf("said %u\n", said_here); @quits
   1 joined     @first pthread_t t; pthread_create(&t, 0, joined, &seeds[1]); u64 r = work(0); add(0); pthread_join(t, 0); @tell @quits
   1 leaving    @first @leaving @tell @quits
   2 leaving    @first @leaving for (int i = 0; i < @<1-2>; i++) start(staying, &seeds[i]); @tell @ends
first
   4 -          @stop @install atexit(last_of_all); @wander
   6 -          @stop @install @wander
stop
  95 stops      stopped(@<1-4>, @<50-3000>, @<100-20000>);
   5 stops      stopped(@<1-4>, @<50-3000>, 1200000);
   0 -
install
   1 signals    sem_init(&handler_told, 0, 0); install(10, on_signal); install(12, on_signal); install(23, on_signal); @tick
   0 -
tick
   1 ticking    install(14, on_tick); install(26, on_tick); install(27, on_tick); struct itimerval often = {{0, @Often}, {0, @Often}}, seldom = {{0, @Seldom}, {0, @Seldom}}; setitimer(ITIMER_REAL, &often, 0); setitimer(ITIMER_VIRTUAL, &seldom, 0); setitimer(ITIMER_PROF, &seldom, 0);
   0 -
often
   1 -          @<100-400>
seldom
   1 -          @<100-900>
wander
   1 coroutines,threads    shared_sum += wander();
   0 -
leaving
   1 -          sem_init(&told, 0, 0); pthread_key_create(&key, at_end); for (int i = 1; i <= @Some; i++) start(leaving, &seeds[i]); u64 r = work(0); add(0); for (int i = 0; i < @Some; i++) while (sem_wait(&told)) ;
some
   1 -          @<1-4>
tell
   1 -          pthread_mutex_lock(&lock); printf("%lu %lu %lu\nsaid %u\n", r, other, shared_sum, said_all); pthread_mutex_unlock(&lock);
quits
   8 -          @ends
   1 c          fflush(0); pthread_exit(0);
ends
   2 -          return 0;
   1 -          exit(0);
   1 -          fflush(0); _exit(0);
   1 -          fflush(0); quick_exit(0);
   1 -          signal(15, ends); fflush(0); raise(15);
   1 -          { pthread_t e; pthread_create(&e, 0, ender, 0); for (;;) pause(); }
   1 -          { pthread_t e; pthread_create(&e, 0, ender, 0); pthread_join(e, 0); }
leaffunction
   1 -          @private u64 @name(@ty *a, @const @ty *b, u64 n, int step) { u64 s = n; @leafbody return s; }
private
   1 -          static NOINL
   1 -          static
   1 -          static inline
shared
   1 -          NOINL
   2 -
const
   1 -          const
   4 -
leafbody
   1 -          for (int i = 0; i < (int)n; i++) s += @whole a[i] + @whole b[i * step];
   1 -          for (int i = 0; i < (int)n; i++) a[i] = b[i];
   1 -          for (u64 i = 0; i != n; i++) { if (@whole b[i] & 1) a[i * 4] = a[i]; else s++; }
   1 -          while (n--) s = s * 3 + @whole*b, b += step;
   1 -          for (u32 i = 0; i < n; i++) for (u32 j = 0; j < (u32)step; j++) s += @whole a[i * 4 + j] ^ i;
   1 -          if (n > 3) { @ty z = a[3]; a[3] = a[1]; a[2] = z; s = 9; } else s = @whole b[n * 2] + @whole a[n];
last
   1 c          __attribute__((musttail)) return leaf0(acc ^ x, s, d);
   1 -          return table[x & 3](acc, s, d + 1);
   4 -          return acc ^ x;
coroutine
   1 yields     static Gen gen@unit(u64 x, struct S *s, int d) { if (d > 5 || --fuel < 0) co_return; @suspended { Guard kept(@e2);@body @suspended } }
   1 awaits     static Task task@unit(u64 x, struct S *s, int d) { if (d > 5 || --fuel < 0) co_return x; @suspended { Guard kept(@e2);@body @suspended } co_return acc ^ x; }
suspended
   1 yields     co_yield @e1;
   1 awaits     acc += co_await task@unit(@e2, &pool[@i64], d + 1);
driven
   1 -          { int $k = 0; for (Gen $gives = gen@unit(@e2, &pool[@i64], d + 1); $gives.next();) { acc = acc * 3 + $gives.value(); if (++$k > @<1-6>) break; } }
   1 -          acc ^= task@unit(@e2, &pool[@i64], d + 1).run();
loops
   7 -          counter
   1 -          steps
   2 -          wide
   1 -          data
   1 -          limits
   2 -          nest
   1 -          walk
   1 -          list
counter
  16 -          @Ctype $n = (@Ctype)(@limit); for (@Ctype $v = 0; $v < $n; $v++) {@block}
   8 -          @Ctype $n = (@Ctype)(@limit); for (@Ctype $v = @<0-2>; $v < $n; $v += @<1-4>) {@block}
   4 -          for (@Ctype $v = (@Ctype)(@limit); $v > 0; $v--) {@block}
   4 -          for (@Ctype $v = (@Ctype)(@limit); $v-- > 0;) {@block}
   4 -          @Ctype $v = (@Ctype)(@limit); while ($v != 0) { $v--;@block}
   6 -          u64 $v = 0; for (;;) { if ($v++ >= (u64)(@limit)) break;@block if (@c1) @[break continue];@one if (@c1) @[break break continue]; }
ctype
   1 -          @[int int u32 s64 u64 u8 s8 u16 s16]
steps
   1 -          @Long $e = (@Long)((@limit) * @Five); for (@Long $v = 0; $v != $e; $v += @Five) {@block}
long
   1 -          @[int u32 u64 u16]
five
   1 -          @<1-5>u
wide
   4 -          @Small $v = (@Small)@[-3 -1 0 120 250]; u32 $k = 0; do { $v = (@Small)($v @[+ -] @<1-7>);@block} while (++$k < @most);
   1 -          for (u32 $v = 0u - @most; $v != 0; $v++) {@block}
   1 -          for (u64 $v = (u64)0 - @most; $v != 0; $v++) {@block}
   1 -          for (u64 $v = 0x100000000; $v != 0x100000000 + @most; $v++) {@block}
   1 -          for (s64 $v = -(s64)@most; $v != 0; $v++) {@block}
small
   1 -          @[u8 s8 u16 s16 u32]
data
   1 -          u64 $v = (@start & 63u) | 1u; int $k = 0; while ($v != 1 && $k++ < 40) { $v = $v & 1 ? 3 * $v + 1 : $v >> 1;@one}
   1 -          for (u64 $v = @start & 0xfffu; $v; $v &= $v - 1) {@one}
   1 -          u64 $v = @start & 63u; int $k = 0; do {@one $v = ((u64)gw[$v] + $k) & 63u; } while ($v && ++$k < 9);
limits
   1 -          for (u32 $v = 0; $v < ((u64)@cell & 7u); $v++) {@block}
nest
   1 -          for (int $v = 0; $v < @most; $v++) { @before for (int $w = 0; $w < @most; $w++) {@inner} }
   1 -          for (int $v = 0; $v < @most; $v++) { @before for (int $w = $v; $w < @most; $w++) {@inner} }
   1 -          for (int $v = 0; $v < @most; $v++) { @before for (int $w = 0; $w < $v; $w++) {@inner} }
   1 -          for (int $v = 0; $v < @most; $v++) { @before for (int $w = @most; $w-- > 0;) {@inner} }
inner
   3 -          @plain
   2 -          @deep
walk
   2 -          for (@ty *$v = @array, *$e = @array + @most; $v != $e; $v++) { acc += (u64)*$v; @extra }
   2 -          for (@ty *$v = @array, *$e = @array + @most; $v != $e; $v++) { *$v = (@ty)(*$v ^ 3); @extra }
   2 -          for (@ty *$v = @array + @most, *$e = @array; $v-- > $e;) { acc += (u64)*$v; *$v = (@ty)acc; @extra }
   2 -          @ty *$v = @array, *$e = @array + @most; while ($v < --$e) { @ty z = *$e; *$e = *$v; *$v++ = z; @extra }
   2 -          for (u8 *$v = (u8 *)@array, *$e = $v + @most; $v < $e; $v += 2) { acc = acc * 3 + *$v; @extra }
extra
   2 -          @one
   3 -          ;
list
   1 -          for (struct S *$v = head; $v; $v = $v->next) {@one}
   1 -          for (struct S *$v = head; $v; $v = $v->next) { acc += $v->a; $v->d = acc; }
kernels
   1 -          { u32 limit = @limit; for (@[u32 int u64 u16] $v = 0; (u32)$v < limit; $v++) { @compute } }
compute
   1 -          if (@from[$v] & 1) @put
   1 -          acc += (u64)(@value);
   1 -          @array[(u64)(@value) & @end] += 1u;
   2 -          @put
put
   2 -          @array[$v] = (@ty)((@value)@mask);
   1 -          @array[@last - $v] = (@ty)((@value)@mask);
value
   1 -          @from[$v] + 1
   1 -          (@from[$v] ^ $v)
   1 -          @from[@last - $v]
   1 -          @from[$v] * 3 + @from[@last - $v]
   1 -          (u64)vol + $v
   1 -          @from[($v * 3) & @last]
expr
   1 -          (u64)@[0 1 2 3 5 7 16 31 100 255 256 1000 65535 4294967280]u
   2 -          (u64)@integer
   1 -          acc
   2 shallow    @load
   1 shallow    (u64)vol
   3 shallow    (@e @[+ - * ^ & |] @e)
   1 shallow    (@e @[>> <<] @<0-20>)
   1 shallow    (u64)(@type)(@e)
   1 shallow    (@c ? @e : @e)
   1 shallow    (@e @[/ %] (@e | 1u))
   1 shallow    (u64)@[__builtin_popcountll __builtin_bswap64 (u64)-](@e)
type
   1 -          @[u8 s8 u16 s16 u32 s32 u64 s64]
condition
   2 -          ((@e & @[1 2 3 7]) != 0)
   1 -          (@e @[< > == != <= >=] @e)
   1 -          ((@Signed)(@e) @[< >] (@Signed)(@e))
signed
   1 -          @[s8 s16 s32 s64]
load
  15 -          (u64)@place
   2 reals      (u64)(s64)@real
place
   3 -          pool[@i64].@[a b d]
   3 -          pool[@i64].c[@i4]
   3 pointers   @pointer->@[a b d]
   3 -          bits[@i16].@[p q r t u]
   1 -          mix[@i8].w
   1 -          mix[@i8].h[@i4]
   1 -          mix[@i8].b[@i8]
   3 -          grid[@i16][@i16]
   3 -          @element
  12 -          @indexed
"#;

struct Row {
    weight: u64,
    needs: &'static str,
    text: &'static str,
}

static RULES: LazyLock<HashMap<&str, Vec<Row>>> = LazyLock::new(|| {
    let mut rules: HashMap<&str, Vec<Row>> = HashMap::new();
    let mut name = "";
    for line in GRAMMAR.lines() {
        if !line.starts_with(' ') {
            name = line;
            continue;
        }
        let mut words = line.trim().splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let weight = word().parse().expect("a weight");
        let (needs, text) = (word(), word().trim_start());
        rules.entry(name).or_default().push(Row { weight, needs, text });
    }
    rules
});

impl Generator<'_> {
    /// A text of a rule. What it keeps is forgotten behind it.
    pub(crate) fn rule(&mut self, name: &str) -> String {
        let fits = RULES[name].iter().filter(|row| row.needs.split(',').all(|need| self.has(need)));
        let fits: Vec<&Row> = fits.collect();
        let weights: Vec<u64> = fits.iter().map(|row| row.weight).collect();
        let kept = self.kept.clone();
        let row = fits[self.rng.weighted(&weights)];
        let text = self.fill(row.text);
        self.kept = kept;
        text
    }

    /// A text of a rule in which these are known.
    pub(crate) fn rule_with<const N: usize>(
        &mut self,
        known: [(&str, String); N],
        name: &str,
    ) -> String {
        let kept = self.kept.clone();
        self.kept.extend(known.map(|(name, text)| (name.to_owned(), text)));
        let text = self.rule(name);
        self.kept = kept;
        text
    }

    fn fill(&mut self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(['@', '$']) {
            out += &rest[..at];
            let after = &rest[at + 1..];
            let end = match after.as_bytes().first() {
                Some(b'[') => after.find(']').map(|end| end + 1),
                Some(b'<') => after.find('>').map(|end| end + 1),
                _ => after.find(|c: char| !c.is_ascii_alphanumeric()),
            };
            let (word, after) = after.split_at(end.unwrap_or(after.len()));
            let key = &rest[at..=at + word.len()];
            if let Some(known) = self.kept.get(key) {
                out += known;
            } else {
                let own = key.starts_with('$');
                let drawn = if own { self.fresh(word) } else { self.word(word) };
                if own || word.starts_with(char::is_uppercase) {
                    self.kept.insert(key.to_owned(), drawn.clone());
                }
                out += &drawn;
            }
            rest = after;
        }
        out + rest
    }

    fn has(&self, need: &str) -> bool {
        let (scope, shape) = (&self.scope, &self.shape);
        match need {
            "-" => true,
            "cxx" => shape.cxx,
            "c" => !shape.cxx,
            "alone" => !shape.threads(),
            "threads" => shape.threads(),
            "joined" => shape.threads == Threads::Joined,
            "leaving" => shape.threads == Threads::Leaving,
            "signals" => shape.signals(),
            "ticking" => shape.signals == Signals::Ticking,
            "plugins" => shape.plugins,
            "forks" => shape.forks,
            "descriptors" => shape.descriptors,
            "stops" => shape.stops,
            "coroutines" => shape.coroutines,
            "shallow" => self.level < 3,
            "near" => scope.loops < 3,
            "outside" => scope.loops == 0 && scope.suspend.is_none(),
            "breakable" => scope.breakable,
            "vars" => !scope.vars.is_empty(),
            "doubles" => !scope.doubles.is_empty(),
            "pointers" => !scope.pointers.is_empty(),
            "reals" => scope.arrays.iter().any(Array::is_float),
            "plain" => scope.suspend.is_none(),
            "yields" => scope.suspend == Some(Suspend::Yield),
            "awaits" => scope.suspend == Some(Suspend::Await),
            // A coroutine must not suspend itself in the handler of an exception.
            "suspends" => scope.suspend.is_some() && !scope.catching,
            // About how often the place is executed.
            most => {
                let most = most.strip_prefix("<=").and_then(|most| most.parse().ok());
                scope.weight <= most.unwrap_or_else(|| panic!("nothing needs {need}"))
            }
        }
    }

    pub(crate) fn word(&mut self, word: &str) -> String {
        if let Some(words) = word.strip_prefix('[') {
            let words: Vec<&str> = words.trim_end_matches(']').split(' ').collect();
            return (*self.rng.pick(&words)).to_owned();
        }
        if let Some(numbers) = word.strip_prefix('<') {
            let numbers = numbers.trim_end_matches('>').split('-').flat_map(str::parse);
            let numbers: Vec<u64> = numbers.collect();
            return self.rng.range(numbers[0], numbers[1]).to_string();
        }
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
        let number: Option<u32> = word[name.len()..].parse().ok();
        let level = number.unwrap_or(self.level + 1);
        let depth = self.depth;
        match name.as_str() {
            "e" => self.expr(level),
            "c" => self.condition(level),
            "i" => self.index(level.into()),
            "one" => self.lines(1, depth + 1),
            "two" => self.lines(2, depth + 2),
            "deep" => self.lines(1, depth + 2),
            "plain" => self.lines(1, 5),
            "body" => {
                let n = self.rng.range(1, 3);
                self.lines(n, 0)
            }
            "block" => {
                let n = self.rng.range(1, if depth > 1 { 1 } else { 3 });
                self.lines(n, depth + 1)
            }
            "handler" => self.scoped(|g| {
                g.scope.catching = true;
                g.lines(1, depth + 2)
            }),
            "unit" => self.unit.to_string(),
            "loop" => self.any_loop(),
            "kernel" => self.kernel(),
            "switch" => self.switch(),
            "goto" => self.goto(),
            "moved" => self.moved(),
            "localarray" => self.local_array(),
            "localinteger" => self.local_integer(),
            "leaf" => self.leaf_call(),
            "varied" => self.varied(),
            "function" => self.callee(),
            "calls" => self.calls(),
            "filled" => self.of_arrays("fill"),
            "summed" => self.of_arrays("sum"),
            "integer" => self.rng.pick(&self.scope.ints).clone(),
            "pointer" => self.rng.pick(&self.scope.pointers).clone(),
            "double" => self.rng.pick(&self.scope.doubles).clone(),
            "variable" => {
                let (name, ty) = self.rng.pick(&self.scope.vars);
                format!("{name} = ({ty})")
            }
            "bytes" => self.bytes(level.into()),
            "cell" => {
                let array = self.integer_array();
                format!("{}[{}]", array.name, self.rng.below(array.len))
            }
            "real" => self.element(Array::is_float, false),
            "indexed" => self.element(|array| !array.is_float(), false),
            "element" => self.element(|array| !array.is_float(), true),
            rule => self.rule(rule),
        }
    }
}
