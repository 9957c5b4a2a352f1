;; Products of one row with each of `count` rows in float64, in four sums that do not wait for each other: those of the
;; numbers 0, 1, 2 and 3 modulo 4, and what is left over in the first.
;;
;;   query    float64 [width]
;;   row      float32 [count, width]
;;   product  float64 [count]
(module
  (memory (export "memory") 4)
  (func (export "multiply") (param $query i32) (param $row i32) (param $product i32) (param $count i32) (param $width i32)
    (local $q i32) (local $whole i32) (local $end i32) (local $last i32)
    (local $low v128) (local $high v128) (local $first f64)
    (local.set $last (i32.add (local.get $product) (i32.shl (local.get $count) (i32.const 3))))
    (block $done (loop $rows
      (br_if $done (i32.ge_u (local.get $product) (local.get $last)))
      (local.set $low (v128.const i32x4 0 0 0 0)) (local.set $high (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (local.set $end (i32.add (local.get $row) (i32.shl (local.get $width) (i32.const 2))))
      (local.set $whole (i32.add (local.get $row) (i32.shl (i32.and (local.get $width) (i32.const -4)) (i32.const 2))))
      (block $four_ (loop $four
        (br_if $four_ (i32.ge_u (local.get $row) (local.get $whole)))
        (local.set $low (f64x2.add (local.get $low)
          (f64x2.mul (v128.load (local.get $q)) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $row))))))
        (local.set $high (f64x2.add (local.get $high)
          (f64x2.mul (v128.load offset=16 (local.get $q)) (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $row))))))
        (local.set $row (i32.add (local.get $row) (i32.const 16)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br $four)))
      (local.set $first (f64x2.extract_lane 0 (local.get $low)))
      (block $one_ (loop $one
        (br_if $one_ (i32.ge_u (local.get $row) (local.get $end)))
        (local.set $first (f64.add (local.get $first)
          (f64.mul (f64.load (local.get $q)) (f64.promote_f32 (f32.load (local.get $row))))))
        (local.set $row (i32.add (local.get $row) (i32.const 4)))
        (local.set $q (i32.add (local.get $q) (i32.const 8)))
        (br $one)))
      (f64.store (local.get $product) (f64.add
        (f64.add (local.get $first) (f64x2.extract_lane 1 (local.get $low)))
        (f64.add (f64x2.extract_lane 0 (local.get $high)) (f64x2.extract_lane 1 (local.get $high)))))
      (local.set $product (i32.add (local.get $product) (i32.const 8)))
      (br $rows)))))
