;; Products of pairs of rows in float64, in four sums that do not wait for each other: those of the numbers 0, 1, 2 and
;; 3 modulo 4, and what is left over in the first. Two pairs at a time, since the sums of one would wait.
;;
;;   pair     int32 [count, 2] places of a row of float64 [width] and of one of float32 [width]; count is even
;;   product  float64 [count]
(module
  (memory (export "memory") 16)
  (func (export "multiply") (param $pair i32) (param $count i32) (param $product i32) (param $width i32)
    (local $last i32) (local $whole i32) (local $end i32)
    (local $q0 i32) (local $r0 i32) (local $low0 v128) (local $high0 v128) (local $first0 f64)
    (local $q1 i32) (local $r1 i32) (local $low1 v128) (local $high1 v128) (local $first1 f64)
    (local.set $last (i32.add (local.get $product) (i32.shl (local.get $count) (i32.const 3))))
    (block $done (loop $pairs
      (br_if $done (i32.ge_u (local.get $product) (local.get $last)))
      (local.set $q0 (i32.load (local.get $pair))) (local.set $r0 (i32.load offset=4 (local.get $pair)))
      (local.set $q1 (i32.load offset=8 (local.get $pair))) (local.set $r1 (i32.load offset=12 (local.get $pair)))
      (local.set $low0 (v128.const i32x4 0 0 0 0)) (local.set $high0 (v128.const i32x4 0 0 0 0))
      (local.set $low1 (v128.const i32x4 0 0 0 0)) (local.set $high1 (v128.const i32x4 0 0 0 0))
      (local.set $end (i32.add (local.get $r0) (i32.shl (local.get $width) (i32.const 2))))
      (local.set $whole (i32.add (local.get $r0) (i32.shl (i32.and (local.get $width) (i32.const -4)) (i32.const 2))))
      (block $four_ (loop $four
        (br_if $four_ (i32.ge_u (local.get $r0) (local.get $whole)))
        (local.set $low0 (f64x2.add (local.get $low0) (f64x2.mul
          (v128.load (local.get $q0)) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $r0))))))
        (local.set $high0 (f64x2.add (local.get $high0) (f64x2.mul
          (v128.load offset=16 (local.get $q0)) (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $r0))))))
        (local.set $low1 (f64x2.add (local.get $low1) (f64x2.mul
          (v128.load (local.get $q1)) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $r1))))))
        (local.set $high1 (f64x2.add (local.get $high1) (f64x2.mul
          (v128.load offset=16 (local.get $q1)) (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $r1))))))
        (local.set $r0 (i32.add (local.get $r0) (i32.const 16)))
        (local.set $r1 (i32.add (local.get $r1) (i32.const 16)))
        (local.set $q0 (i32.add (local.get $q0) (i32.const 32)))
        (local.set $q1 (i32.add (local.get $q1) (i32.const 32)))
        (br $four)))
      (local.set $first0 (f64x2.extract_lane 0 (local.get $low0)))
      (local.set $first1 (f64x2.extract_lane 0 (local.get $low1)))
      (block $one_ (loop $one
        (br_if $one_ (i32.ge_u (local.get $r0) (local.get $end)))
        (local.set $first0 (f64.add (local.get $first0)
          (f64.mul (f64.load (local.get $q0)) (f64.promote_f32 (f32.load (local.get $r0))))))
        (local.set $first1 (f64.add (local.get $first1)
          (f64.mul (f64.load (local.get $q1)) (f64.promote_f32 (f32.load (local.get $r1))))))
        (local.set $r0 (i32.add (local.get $r0) (i32.const 4))) (local.set $r1 (i32.add (local.get $r1) (i32.const 4)))
        (local.set $q0 (i32.add (local.get $q0) (i32.const 8))) (local.set $q1 (i32.add (local.get $q1) (i32.const 8)))
        (br $one)))
      (f64.store (local.get $product) (f64.add
        (f64.add (local.get $first0) (f64x2.extract_lane 1 (local.get $low0)))
        (f64.add (f64x2.extract_lane 0 (local.get $high0)) (f64x2.extract_lane 1 (local.get $high0)))))
      (f64.store offset=8 (local.get $product) (f64.add
        (f64.add (local.get $first1) (f64x2.extract_lane 1 (local.get $low1)))
        (f64.add (f64x2.extract_lane 0 (local.get $high1)) (f64x2.extract_lane 1 (local.get $high1)))))
      (local.set $product (i32.add (local.get $product) (i32.const 16)))
      (local.set $pair (i32.add (local.get $pair) (i32.const 16)))
      (br $pairs)))))
