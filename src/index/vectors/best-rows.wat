;; The products of rows of float32 with 16 queries that are above the bounds of the queries.
;;
;; Two rows at a time, in eight sums of four: one product after the other is added, from the first number of a row to the
;; last, which is the order of the product of the backend `wasm`. More sums, or several numbers of a row at once, take
;; registers that V8 does not have: either is slower.
;;
;;   row    float32 [rows, bytes / 4], the first of the rows, and `last` the last of them
;;   panel  float32 [bytes / 4, 16], the queries
;;   least  float32 [16], the bounds
;;   room   of 128 bytes
;;   out    for each product above its bound, by ascending rows of pairs: the place of the row and the number of the
;;          query, int32, and the product, float32
;;   result the bytes of `out`
(module
  (memory (import "host" "memory") 1)
  (func (export "findAbove") (param $row i32) (param $last i32) (param $bytes i32) (param $panel i32) (param $least i32) (param $room i32) (param $out i32) (result i32)
    (local $begin i32) (local $second i32) (local $at i32) (local $q i32) (local $hits i32) (local $x v128)
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
      (local.set $hits (i32.const 0))
      (local.set $x (v128.load (local.get $least)))
      (local.set $hits (i32.or (local.get $hits) (i32x4.bitmask (f32x4.gt (local.get $a0) (local.get $x)))))
      (local.set $hits (i32.or (local.get $hits) (i32.shl (i32x4.bitmask (f32x4.gt (local.get $b0) (local.get $x))) (i32.const 16))))
      (local.set $x (v128.load offset=16 (local.get $least)))
      (local.set $hits (i32.or (local.get $hits) (i32.shl (i32x4.bitmask (f32x4.gt (local.get $a1) (local.get $x))) (i32.const 4))))
      (local.set $hits (i32.or (local.get $hits) (i32.shl (i32x4.bitmask (f32x4.gt (local.get $b1) (local.get $x))) (i32.const 20))))
      (local.set $x (v128.load offset=32 (local.get $least)))
      (local.set $hits (i32.or (local.get $hits) (i32.shl (i32x4.bitmask (f32x4.gt (local.get $a2) (local.get $x))) (i32.const 8))))
      (local.set $hits (i32.or (local.get $hits) (i32.shl (i32x4.bitmask (f32x4.gt (local.get $b2) (local.get $x))) (i32.const 24))))
      (local.set $x (v128.load offset=48 (local.get $least)))
      (local.set $hits (i32.or (local.get $hits) (i32.shl (i32x4.bitmask (f32x4.gt (local.get $a3) (local.get $x))) (i32.const 12))))
      (local.set $hits (i32.or (local.get $hits) (i32.shl (i32x4.bitmask (f32x4.gt (local.get $b3) (local.get $x))) (i32.const 28))))
      (if (i32.eq (local.get $second) (local.get $row)) (then (local.set $hits (i32.and (local.get $hits) (i32.const 65535)))))
      (if (local.get $hits) (then
        (v128.store (local.get $room) (local.get $a0))
        (v128.store offset=16 (local.get $room) (local.get $a1))
        (v128.store offset=32 (local.get $room) (local.get $a2))
        (v128.store offset=48 (local.get $room) (local.get $a3))
        (v128.store offset=64 (local.get $room) (local.get $b0))
        (v128.store offset=80 (local.get $room) (local.get $b1))
        (v128.store offset=96 (local.get $room) (local.get $b2))
        (v128.store offset=112 (local.get $room) (local.get $b3))
        (loop $next
          (local.set $at (i32.ctz (local.get $hits)))
          (i32.store (local.get $out) (select (local.get $row) (local.get $second) (i32.lt_u (local.get $at) (i32.const 16))))
          (i32.store offset=4 (local.get $out) (i32.and (local.get $at) (i32.const 15)))
          (f32.store offset=8 (local.get $out) (f32.load (i32.add (local.get $room) (i32.shl (local.get $at) (i32.const 2)))))
          (local.set $out (i32.add (local.get $out) (i32.const 12)))
          (local.set $hits (i32.and (local.get $hits) (i32.sub (local.get $hits) (i32.const 1))))
          (br_if $next (local.get $hits)))))
      (local.set $row (i32.add (local.get $row) (i32.shl (local.get $bytes) (i32.const 1))))
      (br_if $rows (i32.le_u (local.get $row) (local.get $last))))
    (i32.sub (local.get $out) (local.get $begin))))
