;; Ring attention of four queries over the keys of their band, in float32. The sums have the order of the matrix
;; products, exponentials and sums of TensorFlow.js on wasm, so that results are equal in every bit.
(module
  (import "host" "memory" (memory 1))
  ;; 2^(i/32) as float64, less i in the bits that a whole power of two adds to: for $power.
  (data (i32.const 0)
    "\00\00\00\00\00\00\f0\3f\74\85\15\d3\b0\d9\ef\3f\0f\89\f9\6c\58\b5\ef\3f\51\5b\12\d0\01\93\ef\3f"
    "\7b\51\7d\3c\b8\72\ef\3f\aa\b9\68\31\87\54\ef\3f\38\62\75\6e\7a\38\ef\3f\e1\de\1f\f5\9d\1e\ef\3f"
    "\15\b7\31\0a\fe\06\ef\3f\cb\a9\3a\37\a7\f1\ee\3f\22\34\12\4c\a6\de\ee\3f\2d\89\61\60\08\ce\ee\3f"
    "\27\2a\36\d5\da\bf\ee\3f\82\4f\9d\56\2b\b4\ee\3f\29\54\48\dd\07\ab\ee\3f\85\55\3a\b0\7e\a4\ee\3f"
    "\cd\3b\7f\66\9e\a0\ee\3f\74\5f\ec\e8\75\9f\ee\3f\87\01\eb\73\14\a1\ee\3f\13\ce\4c\99\89\a5\ee\3f"
    "\db\a0\2a\42\e5\ac\ee\3f\e5\c5\cd\b0\37\b7\ee\3f\90\f0\a3\82\91\c4\ee\3f\5d\25\3e\b2\03\d5\ee\3f"
    "\ad\d3\5a\99\9f\e8\ee\3f\47\5e\fb\f2\76\ff\ee\3f\9c\52\85\dd\9b\19\ef\3f\69\90\ef\dc\20\37\ef\3f"
    "\87\a4\fb\dc\18\58\ef\3f\5f\9b\7b\33\97\7c\ef\3f\da\90\a4\a2\af\a4\ef\3f\40\45\6e\5b\76\d0\ef\3f")

  ;; exp of two numbers in -104 ... 88: 2^(k/32) from the table times a cubic, as expf of musl.
  (func $power (param $x v128) (result v128)
    (local $k v128)
    (local $r v128)
    (local $shifted v128)
    (local.set $k (f64x2.mul (local.get $x) (v128.const f64x2 0x1.71547652b82fep+5 0x1.71547652b82fep+5)))
    (local.set $shifted (f64x2.add (local.get $k) (v128.const f64x2 0x1.8p+52 0x1.8p+52)))
    (local.set $r
      (f64x2.sub
        (local.get $k)
        (f64x2.sub (local.get $shifted) (v128.const f64x2 0x1.8p+52 0x1.8p+52))))
    (f64x2.mul
      (f64x2.add
        (f64x2.mul
          (f64x2.add
            (f64x2.mul (v128.const f64x2 0x1.c6af84b912394p-20 0x1.c6af84b912394p-20) (local.get $r))
            (v128.const f64x2 0x1.ebfce50fac4f3p-13 0x1.ebfce50fac4f3p-13))
          (f64x2.mul (local.get $r) (local.get $r)))
        (f64x2.add
          (f64x2.mul (v128.const f64x2 0x1.62e42ff0c52d6p-6 0x1.62e42ff0c52d6p-6) (local.get $r))
          (v128.const f64x2 1 1)))
      (i64x2.add
        (i64x2.shl (local.get $shifted) (i32.const 47))
        (v128.load64_lane offset=0 1
          (i32.shl (i32.and (i32.wrap_i64 (i64x2.extract_lane 1 (local.get $shifted))) (i32.const 31)) (i32.const 3))
          (v128.load64_zero offset=0
            (i32.shl (i32.and (i32.wrap_i64 (i64x2.extract_lane 0 (local.get $shifted))) (i32.const 31)) (i32.const 3)))))))

  ;; exp of four numbers of at most 88.
  (func $powers (param $x v128) (result v128)
    (local.set $x (f32x4.max (local.get $x) (v128.const f32x4 -104 -104 -104 -104)))
    (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
      (f32x4.demote_f64x2_zero (call $power (f64x2.promote_low_f32x4 (local.get $x))))
      (f32x4.demote_f64x2_zero
        (call $power
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x)))))))

  ;; Four numbers times a float64 scale, rounded once.
  (func $scale (param $x v128) (param $scale v128) (result v128)
    (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
      (f32x4.demote_f64x2_zero (f64x2.mul (f64x2.promote_low_f32x4 (local.get $x)) (local.get $scale)))
      (f32x4.demote_f64x2_zero
        (f64x2.mul
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x)))
          (local.get $scale)))))

  ;; Rows of $bytes, $stride apart, times their scales: panels of four rows, whose numbers lie side by side.
  (func (export "pack")
    (param $rows i32) (param $stride i32) (param $bytes i32) (param $scales i32) (param $panels i32) (param $out i32)
    (local $d i32)
    (local $at i32)
    (local $s0 v128)
    (local $s1 v128)
    (local $s2 v128)
    (local $s3 v128)
    (local $x0 v128)
    (local $x1 v128)
    (local $x2 v128)
    (local $x3 v128)
    (local $y0 v128)
    (local $y1 v128)
    (local $y2 v128)
    (local $y3 v128)
    (block $done
      (loop $panel
        (br_if $done (i32.eqz (local.get $panels)))
        (local.set $s0 (v128.load64_splat offset=0 (local.get $scales)))
        (local.set $s1 (v128.load64_splat offset=8 (local.get $scales)))
        (local.set $s2 (v128.load64_splat offset=16 (local.get $scales)))
        (local.set $s3 (v128.load64_splat offset=24 (local.get $scales)))
        (local.set $d (i32.const 0))
        (loop $number
          (local.set $at (i32.add (local.get $rows) (local.get $d)))
          (local.set $x0 (call $scale (v128.load (local.get $at)) (local.get $s0)))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (local.set $x1 (call $scale (v128.load (local.get $at)) (local.get $s1)))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (local.set $x2 (call $scale (v128.load (local.get $at)) (local.get $s2)))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (local.set $x3 (call $scale (v128.load (local.get $at)) (local.get $s3)))
          (local.set $y0 (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $x0) (local.get $x1)))
          (local.set $y1 (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $x0) (local.get $x1)))
          (local.set $y2 (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $x2) (local.get $x3)))
          (local.set $y3 (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $x2) (local.get $x3)))
          (v128.store offset=0 (local.get $out) (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $y0) (local.get $y2)))
          (v128.store offset=16 (local.get $out) (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $y0) (local.get $y2)))
          (v128.store offset=32 (local.get $out) (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $y1) (local.get $y3)))
          (v128.store offset=48 (local.get $out) (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $y1) (local.get $y3)))
          (local.set $out (i32.add (local.get $out) (i32.const 64)))
          (local.set $d (i32.add (local.get $d) (i32.const 16)))
          (br_if $number (i32.lt_u (local.get $d) (local.get $bytes))))
        (local.set $rows (i32.add (local.get $rows) (i32.shl (local.get $stride) (i32.const 2))))
        (local.set $scales (i32.add (local.get $scales) (i32.const 32)))
        (local.set $panels (i32.sub (local.get $panels) (i32.const 1)))
        (br $panel))))

  ;; Products of a panel of queries and $pairs pairs of panels of keys, each of $bytes. Rows of the result are $stride apart.
  ;; One number of each row at a time: with several, V8 loads their operands first and moves sums out of its registers.
  (func (export "score")
    (param $queries i32) (param $keys i32) (param $bytes i32) (param $pairs i32) (param $out i32) (param $stride i32)
    (local $q i32)
    (local $end i32)
    (local $other i32)
    (local $at i32)
    (local $b0 v128)
    (local $b1 v128)
    (local $a v128)
    (local $x0 v128)
    (local $y0 v128)
    (local $x1 v128)
    (local $y1 v128)
    (local $x2 v128)
    (local $y2 v128)
    (local $x3 v128)
    (local $y3 v128)
    (local.set $end (i32.add (local.get $queries) (local.get $bytes)))
    (block $done
      (loop $pair
        (br_if $done (i32.eqz (local.get $pairs)))
        (local.set $q (local.get $queries))
        (local.set $other (i32.add (local.get $keys) (local.get $bytes)))
        (local.set $x0 (v128.const i32x4 0 0 0 0))
        (local.set $y0 (v128.const i32x4 0 0 0 0))
        (local.set $x1 (v128.const i32x4 0 0 0 0))
        (local.set $y1 (v128.const i32x4 0 0 0 0))
        (local.set $x2 (v128.const i32x4 0 0 0 0))
        (local.set $y2 (v128.const i32x4 0 0 0 0))
        (local.set $x3 (v128.const i32x4 0 0 0 0))
        (local.set $y3 (v128.const i32x4 0 0 0 0))
        (loop $number
          (local.set $b0 (v128.load (local.get $keys)))
          (local.set $b1 (v128.load (local.get $other)))
          (local.set $a (v128.load32_splat offset=0 (local.get $q)))
          (local.set $x0 (f32x4.add (local.get $x0) (f32x4.mul (local.get $a) (local.get $b0))))
          (local.set $y0 (f32x4.add (local.get $y0) (f32x4.mul (local.get $a) (local.get $b1))))
          (local.set $a (v128.load32_splat offset=4 (local.get $q)))
          (local.set $x1 (f32x4.add (local.get $x1) (f32x4.mul (local.get $a) (local.get $b0))))
          (local.set $y1 (f32x4.add (local.get $y1) (f32x4.mul (local.get $a) (local.get $b1))))
          (local.set $a (v128.load32_splat offset=8 (local.get $q)))
          (local.set $x2 (f32x4.add (local.get $x2) (f32x4.mul (local.get $a) (local.get $b0))))
          (local.set $y2 (f32x4.add (local.get $y2) (f32x4.mul (local.get $a) (local.get $b1))))
          (local.set $a (v128.load32_splat offset=12 (local.get $q)))
          (local.set $x3 (f32x4.add (local.get $x3) (f32x4.mul (local.get $a) (local.get $b0))))
          (local.set $y3 (f32x4.add (local.get $y3) (f32x4.mul (local.get $a) (local.get $b1))))
          (local.set $keys (i32.add (local.get $keys) (i32.const 16)))
          (local.set $other (i32.add (local.get $other) (i32.const 16)))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (br_if $number (i32.lt_u (local.get $q) (local.get $end))))
        (local.set $at (local.get $out))
        (v128.store (local.get $at) (local.get $x0))
        (v128.store offset=16 (local.get $at) (local.get $y0))
        (local.set $at (i32.add (local.get $at) (local.get $stride)))
        (v128.store (local.get $at) (local.get $x1))
        (v128.store offset=16 (local.get $at) (local.get $y1))
        (local.set $at (i32.add (local.get $at) (local.get $stride)))
        (v128.store (local.get $at) (local.get $x2))
        (v128.store offset=16 (local.get $at) (local.get $y2))
        (local.set $at (i32.add (local.get $at) (local.get $stride)))
        (v128.store (local.get $at) (local.get $x3))
        (v128.store offset=16 (local.get $at) (local.get $y3))
        (local.set $keys (local.get $other))
        (local.set $out (i32.add (local.get $out) (i32.const 32)))
        (local.set $pairs (i32.sub (local.get $pairs) (i32.const 1)))
        (br $pair))))

  ;; Cosines of row $i with the $width rows before it, itself, and those after it, from products of panels that hold
  ;; those of later rows alone: the number of row j and row i is in the line of j, i less the first row of j's panel.
  (func (export "gather") (param $products i32) (param $stride i32) (param $i i32) (param $width i32) (param $bytes i32)
    (param $out i32)
    (local $j i32)
    (local $end i32)
    (local.set $j (i32.sub (local.get $i) (local.get $width)))
    (loop $before
      (f32.store
        (local.get $out)
        (f32.load
          (i32.add
            (i32.add (local.get $products) (i32.mul (local.get $j) (local.get $stride)))
            (i32.shl (i32.sub (local.get $i) (i32.and (local.get $j) (i32.const -4))) (i32.const 2)))))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $j (i32.add (local.get $j) (i32.const 1)))
      (br_if $before (i32.lt_u (local.get $j) (local.get $i))))
    (local.set $j
      (i32.add
        (i32.add (local.get $products) (i32.mul (local.get $i) (local.get $stride)))
        (i32.shl (i32.and (local.get $i) (i32.const 3)) (i32.const 2))))
    (local.set $end (i32.add (local.get $out) (local.get $bytes)))
    (loop $after
      (v128.store (local.get $out) (v128.load (local.get $j)))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $j (i32.add (local.get $j) (i32.const 16)))
      (br_if $after (i32.lt_u (local.get $out) (local.get $end)))))

  ;; Softmax of a query, not divided: logit = cosine * slope + offset in place, m the largest of $least and all logits,
  ;; weights e^(logit - m) less e^-m if $baseline. Columns are a multiple of four, weights 16 bytes apart.
  ;; Writes the sum of the weights, and m.
  (func (export "weigh")
    (param $cosines i32) (param $terms i32) (param $bytes i32) (param $least f32) (param $baseline i32) (param $out i32)
    (param $mass i32)
    (local $c i32)
    (local $x v128)
    (local $m v128)
    (local $base v128)
    (local $sum f32)
    (local.set $m (f32x4.splat (local.get $least)))
    (loop $column
      (local.set $x
        (f32x4.add
          (f32x4.mul
            (v128.load (i32.add (local.get $cosines) (local.get $c)))
            (v128.load (i32.add (local.get $terms) (local.get $c))))
          (v128.load (i32.add (i32.add (local.get $terms) (local.get $bytes)) (local.get $c)))))
      (v128.store (i32.add (local.get $cosines) (local.get $c)) (local.get $x))
      (local.set $m (f32x4.max (local.get $m) (local.get $x)))
      (local.set $c (i32.add (local.get $c) (i32.const 16)))
      (br_if $column (i32.lt_u (local.get $c) (local.get $bytes))))
    (local.set $m
      (f32x4.splat
        (f32.max
          (f32.max (f32x4.extract_lane 0 (local.get $m)) (f32x4.extract_lane 1 (local.get $m)))
          (f32.max (f32x4.extract_lane 2 (local.get $m)) (f32x4.extract_lane 3 (local.get $m))))))
    (if (local.get $baseline) (then (local.set $base (call $powers (f32x4.neg (local.get $m))))))
    (local.set $c (i32.const 0))
    (loop $column
      (local.set $x
        (f32x4.sub
          (call $powers
            (f32x4.sub (v128.load (i32.add (local.get $cosines) (local.get $c))) (local.get $m)))
          (local.get $base)))
      (v128.store32_lane offset=0 0 (local.get $out) (local.get $x))
      (local.set $sum (f32.add (local.get $sum) (f32x4.extract_lane 0 (local.get $x))))
      (v128.store32_lane offset=16 1 (local.get $out) (local.get $x))
      (local.set $sum (f32.add (local.get $sum) (f32x4.extract_lane 1 (local.get $x))))
      (v128.store32_lane offset=32 2 (local.get $out) (local.get $x))
      (local.set $sum (f32.add (local.get $sum) (f32x4.extract_lane 2 (local.get $x))))
      (v128.store32_lane offset=48 3 (local.get $out) (local.get $x))
      (local.set $sum (f32.add (local.get $sum) (f32x4.extract_lane 3 (local.get $x))))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (local.set $c (i32.add (local.get $c) (i32.const 16)))
      (br_if $column (i32.lt_u (local.get $c) (local.get $bytes))))
    (f32.store (local.get $mass) (local.get $sum))
    (v128.store32_lane offset=4 0 (local.get $mass) (local.get $m)))

  ;; Values of $bytes, $stride apart, weighted by four queries whose $count weights lie side by side, one column at a
  ;; time as in $score.
  (func (export "mix")
    (param $weights i32) (param $count i32) (param $values i32) (param $stride i32) (param $bytes i32) (param $out i32)
    (local $w i32)
    (local $end i32)
    (local $v i32)
    (local $d i32)
    (local $at i32)
    (local $b0 v128)
    (local $b1 v128)
    (local $a v128)
    (local $x0 v128)
    (local $y0 v128)
    (local $x1 v128)
    (local $y1 v128)
    (local $x2 v128)
    (local $y2 v128)
    (local $x3 v128)
    (local $y3 v128)
    (local.set $end (i32.add (local.get $weights) (i32.shl (local.get $count) (i32.const 4))))
    (loop $numbers
      (local.set $w (local.get $weights))
      (local.set $v (i32.add (local.get $values) (local.get $d)))
      (local.set $x0 (v128.const i32x4 0 0 0 0))
      (local.set $y0 (v128.const i32x4 0 0 0 0))
      (local.set $x1 (v128.const i32x4 0 0 0 0))
      (local.set $y1 (v128.const i32x4 0 0 0 0))
      (local.set $x2 (v128.const i32x4 0 0 0 0))
      (local.set $y2 (v128.const i32x4 0 0 0 0))
      (local.set $x3 (v128.const i32x4 0 0 0 0))
      (local.set $y3 (v128.const i32x4 0 0 0 0))
      (loop $column
        (local.set $b0 (v128.load (local.get $v)))
        (local.set $b1 (v128.load offset=16 (local.get $v)))
        (local.set $a (v128.load32_splat offset=0 (local.get $w)))
        (local.set $x0 (f32x4.add (local.get $x0) (f32x4.mul (local.get $a) (local.get $b0))))
        (local.set $y0 (f32x4.add (local.get $y0) (f32x4.mul (local.get $a) (local.get $b1))))
        (local.set $a (v128.load32_splat offset=4 (local.get $w)))
        (local.set $x1 (f32x4.add (local.get $x1) (f32x4.mul (local.get $a) (local.get $b0))))
        (local.set $y1 (f32x4.add (local.get $y1) (f32x4.mul (local.get $a) (local.get $b1))))
        (local.set $a (v128.load32_splat offset=8 (local.get $w)))
        (local.set $x2 (f32x4.add (local.get $x2) (f32x4.mul (local.get $a) (local.get $b0))))
        (local.set $y2 (f32x4.add (local.get $y2) (f32x4.mul (local.get $a) (local.get $b1))))
        (local.set $a (v128.load32_splat offset=12 (local.get $w)))
        (local.set $x3 (f32x4.add (local.get $x3) (f32x4.mul (local.get $a) (local.get $b0))))
        (local.set $y3 (f32x4.add (local.get $y3) (f32x4.mul (local.get $a) (local.get $b1))))
        (local.set $v (i32.add (local.get $v) (local.get $stride)))
        (local.set $w (i32.add (local.get $w) (i32.const 16)))
        (br_if $column (i32.lt_u (local.get $w) (local.get $end))))
      (local.set $at (i32.add (local.get $out) (local.get $d)))
      (v128.store (local.get $at) (local.get $x0))
      (v128.store offset=16 (local.get $at) (local.get $y0))
      (local.set $at (i32.add (local.get $at) (local.get $bytes)))
      (v128.store (local.get $at) (local.get $x1))
      (v128.store offset=16 (local.get $at) (local.get $y1))
      (local.set $at (i32.add (local.get $at) (local.get $bytes)))
      (v128.store (local.get $at) (local.get $x2))
      (v128.store offset=16 (local.get $at) (local.get $y2))
      (local.set $at (i32.add (local.get $at) (local.get $bytes)))
      (v128.store (local.get $at) (local.get $x3))
      (v128.store offset=16 (local.get $at) (local.get $y3))
      (local.set $d (i32.add (local.get $d) (i32.const 32)))
      (br_if $numbers (i32.lt_u (local.get $d) (local.get $bytes)))))

  ;; (far * sum + band) * scale in float64, the sum in float64 too; in place.
  (func (export "finish") (param $band i32) (param $bytes i32) (param $sum i32) (param $far f64) (param $scale f64)
    (local $end i32)
    (local $x v128)
    (local $f v128)
    (local $s v128)
    (local.set $end (i32.add (local.get $band) (local.get $bytes)))
    (local.set $f (f64x2.splat (local.get $far)))
    (local.set $s (f64x2.splat (local.get $scale)))
    (loop $number
      (local.set $x (v128.load (local.get $band)))
      (v128.store
        (local.get $band)
        (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
          (f32x4.demote_f64x2_zero
            (f64x2.mul
              (f64x2.add
                (f64x2.mul (local.get $f) (v128.load (local.get $sum)))
                (f64x2.promote_low_f32x4 (local.get $x)))
              (local.get $s)))
          (f32x4.demote_f64x2_zero
            (f64x2.mul
              (f64x2.add
                (f64x2.mul (local.get $f) (v128.load offset=16 (local.get $sum)))
                (f64x2.promote_low_f32x4
                  (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
              (local.get $s)))))
      (local.set $sum (i32.add (local.get $sum) (i32.const 32)))
      (local.set $band (i32.add (local.get $band) (i32.const 16)))
      (br_if $number (i32.lt_u (local.get $band) (local.get $end))))))
