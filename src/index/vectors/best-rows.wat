;; The rows of float32 whose product with one of 16 queries is above a bound, and their products with all 16.
;;
;; Two rows at a time, in eight sums of four: one product after the other is added, from the first number of a row to the
;; last, which is the order of the product of the backend `wasm`. More sums, or several numbers of a row at once, take registers
;; that V8 does not have: either is slower.
;;
;;   row    float32 [rows, bytes / 4], the first of the rows, and `last` the last of them; where their number is odd, the
;;          last counts twice
;;   panel  float32 [bytes / 4, 16], the queries
;;   least  float32 [16], the bounds
;;   out    records of the pairs of rows with a product above its bound: the place of the first row, 12 unused bytes,
;;          then float32 [2, 16], the products
;;   result the bytes of the records
(module
  (memory (import "host" "memory") 1)
  (func (export "findAbove") (param $row i32) (param $last i32) (param $bytes i32) (param $panel i32) (param $least i32) (param $out i32) (result i32)
    (local $begin i32) (local $second i32) (local $at i32) (local $q i32) (local $x v128) (local $hit v128)
    (local $q0 v128) (local $q1 v128) (local $q2 v128) (local $q3 v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $begin (local.get $out))
    (loop $rows
      (local.set $second (select (i32.add (local.get $row) (local.get $bytes)) (local.get $last) (i32.lt_u (local.get $row) (local.get $last))))
      (local.set $a0 (v128.const i32x4 0 0 0 0)) (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0)) (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $b0 (v128.const i32x4 0 0 0 0)) (local.set $b1 (v128.const i32x4 0 0 0 0))
      (local.set $b2 (v128.const i32x4 0 0 0 0)) (local.set $b3 (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $panel)) (local.set $at (i32.const 0))
      (loop $numbers
        (local.set $q0 (v128.load (local.get $q)))
        (local.set $q1 (v128.load offset=16 (local.get $q)))
        (local.set $q2 (v128.load offset=32 (local.get $q)))
        (local.set $q3 (v128.load offset=48 (local.get $q)))
        (local.set $x (v128.load32_splat (i32.add (local.get $row) (local.get $at))))
        (local.set $a0 (f32x4.add (local.get $a0) (f32x4.mul (local.get $x) (local.get $q0))))
        (local.set $a1 (f32x4.add (local.get $a1) (f32x4.mul (local.get $x) (local.get $q1))))
        (local.set $a2 (f32x4.add (local.get $a2) (f32x4.mul (local.get $x) (local.get $q2))))
        (local.set $a3 (f32x4.add (local.get $a3) (f32x4.mul (local.get $x) (local.get $q3))))
        (local.set $x (v128.load32_splat (i32.add (local.get $second) (local.get $at))))
        (local.set $b0 (f32x4.add (local.get $b0) (f32x4.mul (local.get $x) (local.get $q0))))
        (local.set $b1 (f32x4.add (local.get $b1) (f32x4.mul (local.get $x) (local.get $q1))))
        (local.set $b2 (f32x4.add (local.get $b2) (f32x4.mul (local.get $x) (local.get $q2))))
        (local.set $b3 (f32x4.add (local.get $b3) (f32x4.mul (local.get $x) (local.get $q3))))
        (local.set $q (i32.add (local.get $q) (i32.const 64)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br_if $numbers (i32.lt_u (local.get $at) (local.get $bytes))))
      (local.set $hit (v128.const i32x4 0 0 0 0))
      (local.set $x (v128.load (local.get $least)))
      (local.set $hit (v128.or (local.get $hit) (f32x4.gt (local.get $a0) (local.get $x))))
      (local.set $hit (v128.or (local.get $hit) (f32x4.gt (local.get $b0) (local.get $x))))
      (local.set $x (v128.load offset=16 (local.get $least)))
      (local.set $hit (v128.or (local.get $hit) (f32x4.gt (local.get $a1) (local.get $x))))
      (local.set $hit (v128.or (local.get $hit) (f32x4.gt (local.get $b1) (local.get $x))))
      (local.set $x (v128.load offset=32 (local.get $least)))
      (local.set $hit (v128.or (local.get $hit) (f32x4.gt (local.get $a2) (local.get $x))))
      (local.set $hit (v128.or (local.get $hit) (f32x4.gt (local.get $b2) (local.get $x))))
      (local.set $x (v128.load offset=48 (local.get $least)))
      (local.set $hit (v128.or (local.get $hit) (f32x4.gt (local.get $a3) (local.get $x))))
      (local.set $hit (v128.or (local.get $hit) (f32x4.gt (local.get $b3) (local.get $x))))
      (if (v128.any_true (local.get $hit)) (then
        (i32.store (local.get $out) (local.get $row))
        (v128.store offset=16 (local.get $out) (local.get $a0))
        (v128.store offset=32 (local.get $out) (local.get $a1))
        (v128.store offset=48 (local.get $out) (local.get $a2))
        (v128.store offset=64 (local.get $out) (local.get $a3))
        (v128.store offset=80 (local.get $out) (local.get $b0))
        (v128.store offset=96 (local.get $out) (local.get $b1))
        (v128.store offset=112 (local.get $out) (local.get $b2))
        (v128.store offset=128 (local.get $out) (local.get $b3))
        (local.set $out (i32.add (local.get $out) (i32.const 144)))))
      (local.set $row (i32.add (local.get $row) (i32.shl (local.get $bytes) (i32.const 1))))
      (br_if $rows (i32.le_u (local.get $row) (local.get $last))))
    (i32.sub (local.get $out) (local.get $begin))))
