;; Sums of powers of e in float64, each with the bits of e_exp.c of fdlibm, which V8 computes Math.exp by: the same
;; operations in the same order, two numbers at a time. For a number that is not in (-708, 0] the host computes it.
;;
;;   number   float64 [count]
;;   slope    float64 [distances], and offset the same
(module
  (import "host" "exp" (func $exp (param f64) (result f64)))
  (memory (export "memory") 1)
  ;; With x = k ln 2 + r and |r| at most half of ln 2, e^x is 2^k e^r; r is the difference of high and low.
  (func $powers (param $x v128) (result v128)
    (local $size v128) (local $k v128) (local $high v128) (local $low v128) (local $r v128) (local $t v128)
      (local $p v128)
    (if (i32.eqz (i64x2.all_true (v128.and
        (f64x2.gt (local.get $x) (v128.const f64x2 -708 -708)) (f64x2.le (local.get $x) (v128.const f64x2 0 0)))))
      (then (return (f64x2.replace_lane 1
        (f64x2.splat (call $exp (f64x2.extract_lane 0 (local.get $x))))
        (call $exp (f64x2.extract_lane 1 (local.get $x)))))))
    (local.set $size (f64x2.abs (local.get $x)))
    (local.set $k (f64x2.trunc (f64x2.sub (f64x2.mul (v128.const f64x2 0x1.71547652b82fep+0 0x1.71547652b82fep+0)
      (local.get $x)) (v128.const f64x2 0.5 0.5))))
    ;; Below 1.5 ln 2, k is -1; below 0.5 ln 2 it is 0. The limits are those of the high words.
    (local.set $k (v128.bitselect (v128.const f64x2 -1 -1) (local.get $k)
      (f64x2.lt (local.get $size) (v128.const f64x2 0x1.0a2b200000000p+0 0x1.0a2b200000000p+0))))
    (local.set $k (v128.and (local.get $k)
      (f64x2.ge (local.get $size) (v128.const f64x2 0x1.62e4300000000p-2 0x1.62e4300000000p-2))))
    (local.set $high (f64x2.sub (local.get $x) (f64x2.mul (local.get $k)
      (v128.const f64x2 0x1.62e42fee00000p-1 0x1.62e42fee00000p-1))))
    (local.set $low (f64x2.mul (local.get $k) (v128.const f64x2 0x1.a39ef35793c76p-33 0x1.a39ef35793c76p-33)))
    (local.set $r (f64x2.sub (local.get $high) (local.get $low)))
    (local.set $t (f64x2.mul (local.get $r) (local.get $r)))
    (local.set $p (v128.const f64x2 0x1.6376972bea4d0p-25 0x1.6376972bea4d0p-25))
    (local.set $p (f64x2.add (v128.const f64x2 -0x1.bbd41c5d26bf1p-20 -0x1.bbd41c5d26bf1p-20) (f64x2.mul
      (local.get $t) (local.get $p))))
    (local.set $p (f64x2.add (v128.const f64x2 0x1.1566aaf25de2cp-14 0x1.1566aaf25de2cp-14) (f64x2.mul (local.get $t)
      (local.get $p))))
    (local.set $p (f64x2.add (v128.const f64x2 -0x1.6c16c16bebd93p-9 -0x1.6c16c16bebd93p-9) (f64x2.mul (local.get $t)
      (local.get $p))))
    (local.set $p (f64x2.add (v128.const f64x2 0x1.555555555553ep-3 0x1.555555555553ep-3) (f64x2.mul (local.get $t)
      (local.get $p))))
    (local.set $p (f64x2.sub (local.get $r) (f64x2.mul (local.get $t) (local.get $p))))
    (local.set $p (f64x2.div (f64x2.mul (local.get $r) (local.get $p)) (f64x2.sub (v128.const f64x2 2 2)
      (local.get $p))))
    (local.set $p (f64x2.sub (v128.const f64x2 1 1)
      (f64x2.sub (f64x2.sub (local.get $low) (local.get $p)) (local.get $high))))
    ;; The last bits of the sum with 1.5 * 2^52 + 1023 are the exponent of 2^k.
    (local.set $p (f64x2.mul (local.get $p) (i64x2.shl
      (f64x2.add (local.get $k) (v128.const f64x2 0x1.80000000003ffp+52 0x1.80000000003ffp+52)) (i32.const 52))))
    ;; From 2^-28 down it is 1 + x.
    (v128.bitselect (f64x2.add (v128.const f64x2 1 1) (local.get $x)) (local.get $p)
      (f64x2.lt (local.get $size) (v128.const f64x2 0x1.0000000000000p-28 0x1.0000000000000p-28))))

  ;; Adds e^(number - most) to a sum, one number after the other.
  (func (export "sumPowers") (param $number i32) (param $count i32) (param $most f64) (param $sum f64) (result f64)
    (local $last i32) (local $both i32) (local $power v128)
    (local.set $last (i32.add (local.get $number) (i32.shl (local.get $count) (i32.const 3))))
    (local.set $both (i32.add (local.get $number) (i32.shl (i32.and (local.get $count) (i32.const -2)) (i32.const 3))))
    (block $two_ (loop $two
      (br_if $two_ (i32.ge_u (local.get $number) (local.get $both)))
      (local.set $power
        (call $powers (f64x2.sub (v128.load (local.get $number)) (f64x2.splat (local.get $most)))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 0 (local.get $power))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 1 (local.get $power))))
      (local.set $number (i32.add (local.get $number) (i32.const 16)))
      (br $two)))
    (if (i32.lt_u (local.get $number) (local.get $last))
      (then (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 0
        (call $powers (f64x2.sub (v128.load64_splat (local.get $number)) (f64x2.splat (local.get $most)))))))))
    (local.get $sum))

  ;; Makes number * slope + offset of each number, by its distance: the number of steps, or what they lack of the ring
  ;; where that is less. The steps rise from number to number. Returns the greatest, `most` included.
  (func (export "scaleNumbers") (param $number i32) (param $count i32) (param $steps i32) (param $ring i32)
      (param $slope i32) (param $offset i32) (param $most f64) (result f64)
    (local $last i32) (local $at i32) (local $back i32) (local $value f64)
    (local.set $last (i32.add (local.get $number) (i32.shl (local.get $count) (i32.const 3))))
    (block $all_ (loop $all
      (br_if $all_ (i32.ge_u (local.get $number) (local.get $last)))
      (local.set $back (i32.sub (local.get $ring) (local.get $steps)))
      (local.set $at (i32.shl (select (local.get $steps) (local.get $back)
        (i32.lt_s (local.get $steps) (local.get $back))) (i32.const 3)))
      (local.set $value (f64.add
        (f64.mul (f64.load (local.get $number)) (f64.load (i32.add (local.get $slope) (local.get $at))))
        (f64.load (i32.add (local.get $offset) (local.get $at)))))
      (f64.store (local.get $number) (local.get $value))
      (local.set $most (f64.max (local.get $most) (local.get $value)))
      (local.set $number (i32.add (local.get $number) (i32.const 8)))
      (local.set $steps (i32.add (local.get $steps) (i32.const 1)))
      (br $all)))
    (local.get $most)))
