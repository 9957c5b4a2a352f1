;; Scans of rows of float32 for those near a query: the first of `count` rows that a bound does not exclude, or `count`.
;;
;;   findAbove  the product of row and query is at least the bound
;;   findBelow  the sum of squared differences of row and query is at most the bound
;;
;; Rows and query have `bytes` bytes, a multiple of 16, with zeros at the end. 16 numbers at a time in four sums of four,
;; the rest four at a time. A result that is NaN is found.
;;
;;   query  float32 [bytes / 4]
;;   row    float32 [count, bytes / 4]
(module
  (memory (import "host" "memory") 1)
  (func $add (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result f64)
    (local $sum v128)
    (local.set $sum (f32x4.add (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
    (f64.promote_f32 (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $sum)) (f32x4.extract_lane 1 (local.get $sum)))
      (f32.add (f32x4.extract_lane 2 (local.get $sum)) (f32x4.extract_lane 3 (local.get $sum))))))
  (func (export "findAbove") (param $query i32) (param $row i32) (param $count i32) (param $bytes i32) (param $bound f64) (result i32)
    (local $at i32) (local $q i32) (local $whole i32) (local $end i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (block $found (loop $rows
      (br_if $found (i32.ge_u (local.get $at) (local.get $count)))
      (local.set $a (v128.const i32x4 0 0 0 0)) (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $c (v128.const i32x4 0 0 0 0)) (local.set $d (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (local.set $end (i32.add (local.get $row) (local.get $bytes)))
      (local.set $whole (i32.add (local.get $row) (i32.and (local.get $bytes) (i32.const -64))))
      (block $tail (loop $sixteen
        (br_if $tail (i32.ge_u (local.get $row) (local.get $whole)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $row)) (v128.load (local.get $q)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $row)) (v128.load offset=16 (local.get $q)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 (local.get $row)) (v128.load offset=32 (local.get $q)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 (local.get $row)) (v128.load offset=48 (local.get $q)))))
        (local.set $row (i32.add (local.get $row) (i32.const 64)))
        (local.set $q (i32.add (local.get $q) (i32.const 64)))
        (br $sixteen)))
      (block $whole_ (loop $four
        (br_if $whole_ (i32.ge_u (local.get $row) (local.get $end)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $row)) (v128.load (local.get $q)))))
        (local.set $row (i32.add (local.get $row) (i32.const 16)))
        (local.set $q (i32.add (local.get $q) (i32.const 16)))
        (br $four)))
      (br_if $found (i32.eqz (f64.lt (call $add (local.get $a) (local.get $b) (local.get $c) (local.get $d)) (local.get $bound))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $rows)))
    (local.get $at))
  (func (export "findBelow") (param $query i32) (param $row i32) (param $count i32) (param $bytes i32) (param $bound f64) (result i32)
    (local $at i32) (local $q i32) (local $whole i32) (local $end i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $x v128)
    (block $found (loop $rows
      (br_if $found (i32.ge_u (local.get $at) (local.get $count)))
      (local.set $a (v128.const i32x4 0 0 0 0)) (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $c (v128.const i32x4 0 0 0 0)) (local.set $d (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (local.set $end (i32.add (local.get $row) (local.get $bytes)))
      (local.set $whole (i32.add (local.get $row) (i32.and (local.get $bytes) (i32.const -64))))
      (block $tail (loop $sixteen
        (br_if $tail (i32.ge_u (local.get $row) (local.get $whole)))
        (local.set $x (f32x4.sub (v128.load (local.get $row)) (v128.load (local.get $q))))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (local.get $x))))
        (local.set $x (f32x4.sub (v128.load offset=16 (local.get $row)) (v128.load offset=16 (local.get $q))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (local.get $x))))
        (local.set $x (f32x4.sub (v128.load offset=32 (local.get $row)) (v128.load offset=32 (local.get $q))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (local.get $x))))
        (local.set $x (f32x4.sub (v128.load offset=48 (local.get $row)) (v128.load offset=48 (local.get $q))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (local.get $x))))
        (local.set $row (i32.add (local.get $row) (i32.const 64)))
        (local.set $q (i32.add (local.get $q) (i32.const 64)))
        (br $sixteen)))
      (block $whole_ (loop $four
        (br_if $whole_ (i32.ge_u (local.get $row) (local.get $end)))
        (local.set $x (f32x4.sub (v128.load (local.get $row)) (v128.load (local.get $q))))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (local.get $x))))
        (local.set $row (i32.add (local.get $row) (i32.const 16)))
        (local.set $q (i32.add (local.get $q) (i32.const 16)))
        (br $four)))
      (br_if $found (i32.eqz (f64.gt (call $add (local.get $a) (local.get $b) (local.get $c) (local.get $d)) (local.get $bound))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $rows)))
    (local.get $at)))
