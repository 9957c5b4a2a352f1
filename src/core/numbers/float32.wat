;; Functions of float32 in place, four numbers at a time: the numbers after the last, up to a multiple of four, are
;; overwritten. Each result has the bits of the kernels of the backend wasm, by the same operations in the same order.
;;
;;   table    float64 [32], 2^(i / 32) from byte 0 on
;;   number   float32 [count], rounded up to a multiple of four
(module
  (memory (export "memory") 1)
  ;; The float64 that 2^(places / 32) is, of the first two of four integers.
  (func $scale (param $places v128) (result v128)
    (local $at v128)
    (local.set $at (i32x4.shl (v128.and (local.get $places) (v128.const i32x4 31 31 31 31)) (i32.const 3)))
    (i64x2.add
      (v128.load64_lane 1 (i32x4.extract_lane 1 (local.get $at))
        (v128.load64_zero (i32x4.extract_lane 0 (local.get $at))))
      (i64x2.shl (i64x2.extend_low_i32x4_s (i32x4.shr_s (local.get $places) (i32.const 5))) (i32.const 52))))

  ;; e^x of two float64 in [-104, 89], as expf of musl computes it.
  (func $power (param $x v128) (result v128)
    (local $steps v128) (local $whole v128) (local $rest v128)
    (local.set $steps (f64x2.mul (v128.const f64x2 0x1.71547652b82fep+5 0x1.71547652b82fep+5) (local.get $x)))
    ;; A sum with 1.5 * 2^52 is rounded to an integer.
    (local.set $whole (f64x2.sub
      (f64x2.add (local.get $steps) (v128.const f64x2 0x1.8000000000000p+52 0x1.8000000000000p+52))
      (v128.const f64x2 0x1.8000000000000p+52 0x1.8000000000000p+52)))
    (local.set $rest (f64x2.sub (local.get $steps) (local.get $whole)))
    (f64x2.mul
      (f64x2.add
        (f64x2.mul
          (f64x2.add
            (f64x2.mul (v128.const f64x2 0x1.c6af84b912394p-20 0x1.c6af84b912394p-20) (local.get $rest))
            (v128.const f64x2 0x1.ebfce50fac4f3p-13 0x1.ebfce50fac4f3p-13))
          (f64x2.mul (local.get $rest) (local.get $rest)))
        (f64x2.add
          (f64x2.mul (v128.const f64x2 0x1.62e42ff0c52d6p-6 0x1.62e42ff0c52d6p-6) (local.get $rest))
          (v128.const f64x2 1 1)))
      (call $scale (i32x4.trunc_sat_f64x2_s_zero (local.get $whole)))))

  ;; e^x of four float32: 0 below -104, infinite above 89.
  (func $powers (param $x v128) (result v128)
    (local $result v128)
    (local.set $result (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
      (f32x4.demote_f64x2_zero (call $power (f64x2.promote_low_f32x4 (local.get $x))))
      (f32x4.demote_f64x2_zero (call $power (f64x2.promote_low_f32x4
        (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x)))))))
    (local.set $result (v128.andnot (local.get $result)
      (f32x4.lt (local.get $x) (v128.const f32x4 -104 -104 -104 -104))))
    (v128.bitselect (v128.const f32x4 inf inf inf inf) (local.get $result)
      (f32x4.gt (local.get $x) (v128.const f32x4 89 89 89 89))))

  ;; e^(number - most)
  (func $exp (export "exp") (param $number i32) (param $count i32) (param $most f32)
    (local $last i32)
    (local.set $last (i32.add (local.get $number) (i32.shl (local.get $count) (i32.const 2))))
    (block $four_ (loop $four
      (br_if $four_ (i32.ge_u (local.get $number) (local.get $last)))
      (v128.store (local.get $number)
        (call $powers (f32x4.sub (v128.load (local.get $number)) (f32x4.splat (local.get $most)))))
      (local.set $number (i32.add (local.get $number) (i32.const 16)))
      (br $four))))

  ;; e^number divided by their sum, which is added up one after the other.
  (func (export "softmax") (param $number i32) (param $count i32)
    (local $at i32) (local $last i32) (local $value f32)
    (local.set $last (i32.add (local.get $number) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $value (f32.const -inf))
    (local.set $at (local.get $number))
    (block $most_ (loop $most
      (br_if $most_ (i32.ge_u (local.get $at) (local.get $last)))
      (local.set $value (f32.max (local.get $value) (f32.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $most)))
    (call $exp (local.get $number) (local.get $count) (local.get $value))
    (local.set $value (f32.const 0))
    (local.set $at (local.get $number))
    (block $sum_ (loop $sum
      (br_if $sum_ (i32.ge_u (local.get $at) (local.get $last)))
      (local.set $value (f32.add (local.get $value) (f32.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $sum)))
    (block $four_ (loop $four
      (br_if $four_ (i32.ge_u (local.get $number) (local.get $last)))
      (v128.store (local.get $number) (f32x4.div (v128.load (local.get $number)) (f32x4.splat (local.get $value))))
      (local.set $number (i32.add (local.get $number) (i32.const 16)))
      (br $four))))

  ;; 1 / (1 + e^-number), as XNNPACK computes it with SIMD of WebAssembly.
  (func (export "sigmoid") (param $number i32) (param $count i32)
    (local $last i32) (local $x v128) (local $z v128) (local $n v128) (local $scale v128) (local $t v128)
      (local $p v128)
    (local.set $last (i32.add (local.get $number) (i32.shl (local.get $count) (i32.const 2))))
    (block $four_ (loop $four
      (br_if $four_ (i32.ge_u (local.get $number) (local.get $last)))
      (local.set $x (v128.load (local.get $number)))
      (local.set $z (f32x4.abs (local.get $x)))
      ;; A sum with 1.5 * 2^23 + 127 is rounded to an integer; its last bits are the exponent of a power of two.
      (local.set $n (f32x4.add
        (v128.const f32x4 0x1.8000fep+23 0x1.8000fep+23 0x1.8000fep+23 0x1.8000fep+23)
        (f32x4.mul (local.get $z) (v128.const f32x4 -0x1.715476p+0 -0x1.715476p+0 -0x1.715476p+0 -0x1.715476p+0))))
      (local.set $scale (i32x4.shl (local.get $n) (i32.const 23)))
      (local.set $n (f32x4.sub (local.get $n)
        (v128.const f32x4 0x1.8000fep+23 0x1.8000fep+23 0x1.8000fep+23 0x1.8000fep+23)))
      ;; ln 2 in two parts.
      (local.set $t (f32x4.add
        (f32x4.add (local.get $z)
          (f32x4.mul (local.get $n) (v128.const f32x4 0x1.62e4p-1 0x1.62e4p-1 0x1.62e4p-1 0x1.62e4p-1)))
        (f32x4.mul (local.get $n) (v128.const f32x4 0x1.7f7d1cp-20 0x1.7f7d1cp-20 0x1.7f7d1cp-20 0x1.7f7d1cp-20))))
      ;; A polynomial for e^t - 1 where |t| <= ln 2 / 2.
      (local.set $p (f32x4.add (v128.const f32x4 0x1.573a1ap-5 0x1.573a1ap-5 0x1.573a1ap-5 0x1.573a1ap-5)
        (f32x4.mul (local.get $t) (v128.const f32x4 -0x1.0f9f9cp-7 -0x1.0f9f9cp-7 -0x1.0f9f9cp-7 -0x1.0f9f9cp-7))))
      (local.set $p (f32x4.add (v128.const f32x4 -0x1.555a80p-3 -0x1.555a80p-3 -0x1.555a80p-3 -0x1.555a80p-3)
        (f32x4.mul (local.get $t) (local.get $p))))
      (local.set $p (f32x4.add (v128.const f32x4 0x1.fffdc6p-2 0x1.fffdc6p-2 0x1.fffdc6p-2 0x1.fffdc6p-2)
        (f32x4.mul (local.get $t) (local.get $p))))
      (local.set $p (f32x4.add (v128.const f32x4 -0x1.fffff6p-1 -0x1.fffff6p-1 -0x1.fffff6p-1 -0x1.fffff6p-1)
        (f32x4.mul (local.get $t) (local.get $p))))
      (local.set $p (f32x4.add (local.get $scale)
        (f32x4.mul (f32x4.mul (local.get $t) (local.get $scale)) (local.get $p))))
      (local.set $p (f32x4.div (local.get $p) (f32x4.add (local.get $p) (v128.const f32x4 1 1 1 1))))
      ;; From here on the result is 0 or 1.
      (local.set $p (v128.andnot (local.get $p) (f32x4.gt (local.get $z)
        (v128.const f32x4 0x1.5d589ep+6 0x1.5d589ep+6 0x1.5d589ep+6 0x1.5d589ep+6))))
      (v128.store (local.get $number) (v128.bitselect (local.get $p)
        (f32x4.sub (v128.const f32x4 1 1 1 1) (local.get $p))
        (f32x4.lt (local.get $x) (v128.const f32x4 0 0 0 0))))
      (local.set $number (i32.add (local.get $number) (i32.const 16)))
      (br $four)))))
