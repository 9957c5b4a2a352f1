;; Sums of shares by document, term after term, and the choice of documents by their sums.
;;
;;   positions  int32 [df], the documents that hold a term, ascending
;;   pairs      uint16 [df], the number of the share of each
;;   dense      uint16 [N], the number of the share of every document; 0 for those that lack the term
;;   shares     float64 [pairs], 0 at 0
;;   sums       float64 [N], 0 for documents that are not found
;;   found      int32 [count], documents; room for one more
;;   bounds     uint8 [N], what a document's sum can still grow by, in units
;;
;; Loops write without a branch where one would be hard to predict.
(module
  (memory (import "host" "memory") 1)
  ;; adds the shares of all documents of a term, and appends those to found that are new and whose share and bound reach
  ;; a number; returns how many are found then
  (func (export "accumulate")
    (param $positions i32) (param $pairs i32) (param $df i32) (param $weight f64) (param $shares i32)
    (param $bounds i32) (param $unit f64) (param $least f64)
    (param $sums i32) (param $found i32) (param $count i32) (result i32)
    (local $end i32) (local $at i32) (local $next i32) (local $p i32) (local $s f64) (local $t f64)
    (local $new i32) (local $large i32)
    (local.set $end (i32.add (local.get $positions) (i32.shl (local.get $df) (i32.const 2))))
    (local.set $next (i32.add (local.get $found) (i32.shl (local.get $count) (i32.const 2))))
    (block $done (loop $entry
      (br_if $done (i32.ge_u (local.get $positions) (local.get $end)))
      (local.set $p (i32.load (local.get $positions)))
      (local.set $at (i32.add (local.get $sums) (i32.shl (local.get $p) (i32.const 3))))
      (local.set $s (f64.load (local.get $at)))
      (local.set $t (f64.mul (local.get $weight)
        (f64.load (i32.add (local.get $shares) (i32.shl (i32.load16_u (local.get $pairs)) (i32.const 3))))))
      (local.set $new (f64.eq (local.get $s) (f64.const 0)))
      (local.set $large (f64.ge
        (f64.add (local.get $t) (f64.mul (local.get $unit)
          (f64.convert_i32_u (i32.load8_u (i32.add (local.get $bounds) (local.get $p))))))
        (local.get $least)))
      (i32.store (local.get $next) (local.get $p))
      (local.set $next (i32.add (local.get $next)
        (i32.shl (i32.and (local.get $new) (local.get $large)) (i32.const 2))))
      (f64.store (local.get $at) (select (f64.add (local.get $s) (local.get $t)) (f64.const 0)
        (i32.or (i32.eqz (local.get $new)) (local.get $large))))
      (local.set $positions (i32.add (local.get $positions) (i32.const 4)))
      (local.set $pairs (i32.add (local.get $pairs) (i32.const 2)))
      (br $entry)))
    (i32.shr_u (i32.sub (local.get $next) (local.get $found)) (i32.const 2)))
  ;; adds the shares of a frequent term to documents
  (func (export "addDense")
    (param $dense i32) (param $weight f64) (param $shares i32) (param $sums i32) (param $found i32) (param $count i32)
    (local $end i32) (local $at i32) (local $p i32)
    (local.set $end (i32.add (local.get $found) (i32.shl (local.get $count) (i32.const 2))))
    (block $done (loop $document
      (br_if $done (i32.ge_u (local.get $found) (local.get $end)))
      (local.set $p (i32.load (local.get $found)))
      (local.set $at (i32.add (local.get $sums) (i32.shl (local.get $p) (i32.const 3))))
      (f64.store (local.get $at) (f64.add (f64.load (local.get $at)) (f64.mul (local.get $weight)
        (f64.load (i32.add (local.get $shares) (i32.shl
          (i32.load16_u (i32.add (local.get $dense) (i32.shl (local.get $p) (i32.const 1)))) (i32.const 3)))))))
      (local.set $found (i32.add (local.get $found) (i32.const 4)))
      (br $document))))
  ;; adds the shares of a term to documents, which are searched in its list of at least one entry
  (func (export "addSearched")
    (param $positions i32) (param $pairs i32) (param $df i32) (param $weight f64) (param $shares i32)
    (param $sums i32) (param $found i32) (param $count i32)
    (local $end i32) (local $at i32) (local $p i32) (local $base i32) (local $n i32)
    (local $half i32) (local $middle i32)
    (local.set $end (i32.add (local.get $found) (i32.shl (local.get $count) (i32.const 2))))
    (block $done (loop $document
      (br_if $done (i32.ge_u (local.get $found) (local.get $end)))
      (local.set $p (i32.load (local.get $found)))
      (local.set $base (local.get $positions))
      (local.set $n (local.get $df))
      (block $narrow (loop $halve
        (br_if $narrow (i32.le_u (local.get $n) (i32.const 1)))
        (local.set $half (i32.shr_u (local.get $n) (i32.const 1)))
        (local.set $middle (i32.add (local.get $base) (i32.shl (local.get $half) (i32.const 2))))
        (local.set $base (select (local.get $middle) (local.get $base)
          (i32.le_s (i32.load (local.get $middle)) (local.get $p))))
        (local.set $n (i32.sub (local.get $n) (local.get $half)))
        (br $halve)))
      (if (i32.eq (i32.load (local.get $base)) (local.get $p)) (then
        (local.set $at (i32.add (local.get $sums) (i32.shl (local.get $p) (i32.const 3))))
        (f64.store (local.get $at) (f64.add (f64.load (local.get $at)) (f64.mul (local.get $weight)
          (f64.load (i32.add (local.get $shares) (i32.shl (i32.load16_u (i32.add (local.get $pairs)
            (i32.shr_u (i32.sub (local.get $base) (local.get $positions)) (i32.const 1)))) (i32.const 3)))))))))
      (local.set $found (i32.add (local.get $found) (i32.const 4)))
      (br $document))))
  ;; keeps the documents whose sums can reach a number, and sets those of the others to 0; returns how many are kept
  (func (export "keepFrom")
    (param $sums i32) (param $found i32) (param $count i32) (param $bounds i32) (param $unit f64) (param $least f64)
    (result i32)
    (local $read i32) (local $end i32) (local $kept i32) (local $at i32) (local $p i32) (local $s f64) (local $keep i32)
    (local.set $read (local.get $found))
    (local.set $kept (local.get $found))
    (local.set $end (i32.add (local.get $found) (i32.shl (local.get $count) (i32.const 2))))
    (block $done (loop $document
      (br_if $done (i32.ge_u (local.get $read) (local.get $end)))
      (local.set $p (i32.load (local.get $read)))
      (local.set $at (i32.add (local.get $sums) (i32.shl (local.get $p) (i32.const 3))))
      (local.set $s (f64.load (local.get $at)))
      (i32.store (local.get $kept) (local.get $p))
      (local.set $keep (f64.ge
        (f64.add (local.get $s) (f64.mul (local.get $unit)
          (f64.convert_i32_u (i32.load8_u (i32.add (local.get $bounds) (local.get $p))))))
        (local.get $least)))
      (local.set $kept (i32.add (local.get $kept) (i32.shl (local.get $keep) (i32.const 2))))
      (f64.store (local.get $at) (select (local.get $s) (f64.const 0) (local.get $keep)))
      (local.set $read (i32.add (local.get $read) (i32.const 4)))
      (br $document)))
    (i32.shr_u (i32.sub (local.get $kept) (local.get $found)) (i32.const 2)))
  ;; keeps the documents with a mark, uint8 [N] of 0 or 1, and sets the sums of the others to 0; returns how many are
  ;; kept
  (func (export "keepMarked")
    (param $marks i32) (param $sums i32) (param $found i32) (param $count i32) (result i32)
    (local $read i32) (local $end i32) (local $kept i32) (local $at i32) (local $p i32) (local $keep i32)
    (local.set $read (local.get $found))
    (local.set $kept (local.get $found))
    (local.set $end (i32.add (local.get $found) (i32.shl (local.get $count) (i32.const 2))))
    (block $done (loop $document
      (br_if $done (i32.ge_u (local.get $read) (local.get $end)))
      (local.set $p (i32.load (local.get $read)))
      (local.set $at (i32.add (local.get $sums) (i32.shl (local.get $p) (i32.const 3))))
      (i32.store (local.get $kept) (local.get $p))
      (local.set $keep (i32.load8_u (i32.add (local.get $marks) (local.get $p))))
      (local.set $kept (i32.add (local.get $kept) (i32.shl (local.get $keep) (i32.const 2))))
      (f64.store (local.get $at) (select (f64.load (local.get $at)) (f64.const 0) (local.get $keep)))
      (local.set $read (i32.add (local.get $read) (i32.const 4)))
      (br $document)))
    (i32.shr_u (i32.sub (local.get $kept) (local.get $found)) (i32.const 2)))
  ;; counts documents by what their sums can reach: bins int32 [last + 1], of width 1 / scale
  (func (export "countSums")
    (param $sums i32) (param $found i32) (param $count i32) (param $bounds i32) (param $unit f64)
    (param $scale f64) (param $bins i32) (param $last f64)
    (local $end i32) (local $at i32) (local $p i32) (local $s f64)
    (local.set $end (i32.add (local.get $found) (i32.shl (local.get $count) (i32.const 2))))
    (block $done (loop $document
      (br_if $done (i32.ge_u (local.get $found) (local.get $end)))
      (local.set $p (i32.load (local.get $found)))
      (local.set $s (f64.add
        (f64.load (i32.add (local.get $sums) (i32.shl (local.get $p) (i32.const 3))))
        (f64.mul (local.get $unit)
          (f64.convert_i32_u (i32.load8_u (i32.add (local.get $bounds) (local.get $p)))))))
      (local.set $at (i32.add (local.get $bins) (i32.shl
        (i32.trunc_sat_f64_u (f64.min (local.get $last) (f64.mul (local.get $scale) (local.get $s)))) (i32.const 2))))
      (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (i32.const 1)))
      (local.set $found (i32.add (local.get $found) (i32.const 4)))
      (br $document))))
  ;; writes the documents whose sums can reach a number to out, which has room for one more; returns how many
  (func (export "listFrom")
    (param $sums i32) (param $found i32) (param $count i32) (param $bounds i32) (param $unit f64)
    (param $least f64) (param $out i32) (result i32)
    (local $end i32) (local $next i32) (local $p i32) (local $s f64)
    (local.set $next (local.get $out))
    (local.set $end (i32.add (local.get $found) (i32.shl (local.get $count) (i32.const 2))))
    (block $done (loop $document
      (br_if $done (i32.ge_u (local.get $found) (local.get $end)))
      (local.set $p (i32.load (local.get $found)))
      (i32.store (local.get $next) (local.get $p))
      (local.set $s (f64.add
        (f64.load (i32.add (local.get $sums) (i32.shl (local.get $p) (i32.const 3))))
        (f64.mul (local.get $unit)
          (f64.convert_i32_u (i32.load8_u (i32.add (local.get $bounds) (local.get $p)))))))
      (local.set $next (i32.add (local.get $next)
        (i32.shl (f64.ge (local.get $s) (local.get $least)) (i32.const 2))))
      (local.set $found (i32.add (local.get $found) (i32.const 4)))
      (br $document)))
    (i32.shr_u (i32.sub (local.get $next) (local.get $out)) (i32.const 2)))
  ;; sets the bounds of documents before an end, a multiple of 64, from their classes; each of at least one word has 32
  ;; bytes: uint8 [16] by class, the place of uint8 [end] classes, 12 bytes that are not read
  (func (export "fillBounds") (param $words i32) (param $count i32) (param $bounds i32) (param $end i32)
    (local $at i32) (local $word i32) (local $last i32) (local $classes i32) (local $by v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $last (i32.add (local.get $words) (i32.shl (local.get $count) (i32.const 5))))
    (block $done (loop $documents
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $a (v128.const i64x2 0 0))
      (local.set $b (v128.const i64x2 0 0))
      (local.set $c (v128.const i64x2 0 0))
      (local.set $d (v128.const i64x2 0 0))
      (local.set $word (local.get $words))
      (loop $next
        (local.set $by (v128.load (local.get $word)))
        (local.set $classes (i32.add (i32.load offset=16 (local.get $word)) (local.get $at)))
        (local.set $a (i8x16.add_sat_u (local.get $a)
          (i8x16.swizzle (local.get $by) (v128.load (local.get $classes)))))
        (local.set $b (i8x16.add_sat_u (local.get $b)
          (i8x16.swizzle (local.get $by) (v128.load offset=16 (local.get $classes)))))
        (local.set $c (i8x16.add_sat_u (local.get $c)
          (i8x16.swizzle (local.get $by) (v128.load offset=32 (local.get $classes)))))
        (local.set $d (i8x16.add_sat_u (local.get $d)
          (i8x16.swizzle (local.get $by) (v128.load offset=48 (local.get $classes)))))
        (local.set $word (i32.add (local.get $word) (i32.const 32)))
        (br_if $next (i32.lt_u (local.get $word) (local.get $last))))
      (local.set $word (i32.add (local.get $bounds) (local.get $at)))
      (v128.store (local.get $word) (local.get $a))
      (v128.store offset=16 (local.get $word) (local.get $b))
      (v128.store offset=32 (local.get $word) (local.get $c))
      (v128.store offset=48 (local.get $word) (local.get $d))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br $documents))))
  ;; sets the bounds of the documents before an end, a multiple of 16, that have no mark to 0
  (func (export "maskBounds") (param $marks i32) (param $bounds i32) (param $end i32)
    (local.set $end (i32.add (local.get $bounds) (local.get $end)))
    (block $done (loop $documents
      (br_if $done (i32.ge_u (local.get $bounds) (local.get $end)))
      (v128.store (local.get $bounds) (v128.and (v128.load (local.get $bounds))
        (i8x16.neg (v128.load (local.get $marks)))))
      (local.set $bounds (i32.add (local.get $bounds) (i32.const 16)))
      (local.set $marks (i32.add (local.get $marks) (i32.const 16)))
      (br $documents))))
  ;; returns how many bounds before an end, a multiple of 16, reach a number
  (func (export "countBounds") (param $bounds i32) (param $end i32) (param $least i32) (result i32)
    (local $count i32) (local $by v128)
    (local.set $by (i8x16.splat (local.get $least)))
    (local.set $end (i32.add (local.get $bounds) (local.get $end)))
    (block $done (loop $documents
      (br_if $done (i32.ge_u (local.get $bounds) (local.get $end)))
      (local.set $count (i32.add (local.get $count) (i32.popcnt (i8x16.bitmask
        (i8x16.ge_u (v128.load (local.get $bounds)) (local.get $by))))))
      (local.set $bounds (i32.add (local.get $bounds) (i32.const 16)))
      (br $documents)))
    (local.get $count))
  ;; writes the documents before an end, a multiple of 64, whose bounds reach a number to out; returns how many
  (func (export "listBounds") (param $bounds i32) (param $end i32) (param $least i32) (param $out i32) (result i32)
    (local $at i32) (local $stop i32) (local $place i32) (local $mask i32) (local $next i32) (local $by v128)
    (local.set $by (i8x16.splat (local.get $least)))
    (local.set $next (local.get $out))
    (block $done (loop $documents
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $place (i32.add (local.get $bounds) (local.get $at)))
      (local.set $stop (i32.add (local.get $at) (i32.const 64)))
      (if (v128.any_true (i8x16.ge_u (i8x16.max_u
          (i8x16.max_u (v128.load (local.get $place)) (v128.load offset=16 (local.get $place)))
          (i8x16.max_u (v128.load offset=32 (local.get $place)) (v128.load offset=48 (local.get $place))))
          (local.get $by)))
        (then (loop $sixteen
          (local.set $mask (i8x16.bitmask (i8x16.ge_u
            (v128.load (i32.add (local.get $bounds) (local.get $at))) (local.get $by))))
          (block $none (loop $bit
            (br_if $none (i32.eqz (local.get $mask)))
            (i32.store (local.get $next) (i32.add (local.get $at) (i32.ctz (local.get $mask))))
            (local.set $next (i32.add (local.get $next) (i32.const 4)))
            (local.set $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))
            (br $bit)))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $sixteen (i32.lt_u (local.get $at) (local.get $stop))))))
      (local.set $at (local.get $stop))
      (br $documents)))
    (i32.shr_u (i32.sub (local.get $next) (local.get $out)) (i32.const 2))))
