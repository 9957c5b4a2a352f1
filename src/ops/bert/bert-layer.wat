;; The parts of a layer of a BERT that are no product of two matrices, in float32, on tensors that lie in the memory of the backend.
;; Four numbers at a time; sizes of heads are multiples of 16, all others multiples of 4.
(module
  (memory (import "host" "memory") 1)

  ;; exp(x), relative error below 1e-7 between -87 and 88. Moshier, "Cephes", expf.
  (func $exp (param $x v128) (result v128)
    (local $n v128) (local $r v128)
    (local.set $x (f32x4.pmin (f32x4.pmax (local.get $x) (v128.const f32x4 -87 -87 -87 -87)) (v128.const f32x4 88 88 88 88)))
    (local.set $n (f32x4.nearest (f32x4.mul (local.get $x) (v128.const f32x4 1.44269504 1.44269504 1.44269504 1.44269504))))
    (local.set $r (f32x4.sub (local.get $x) (f32x4.mul (local.get $n) (v128.const f32x4 0.693359375 0.693359375 0.693359375 0.693359375))))
    (local.set $r (f32x4.add (local.get $r) (f32x4.mul (local.get $n) (v128.const f32x4 2.12194440e-4 2.12194440e-4 2.12194440e-4 2.12194440e-4))))
    (f32x4.mul
      (i32x4.shl (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $n)) (v128.const i32x4 127 127 127 127)) (i32.const 23))
      (f32x4.add (f32x4.add (local.get $r) (v128.const f32x4 1 1 1 1))
        (f32x4.mul (f32x4.mul (local.get $r) (local.get $r))
          (f32x4.add (v128.const f32x4 0.50000001201 0.50000001201 0.50000001201 0.50000001201) (f32x4.mul (local.get $r)
          (f32x4.add (v128.const f32x4 0.16666665459 0.16666665459 0.16666665459 0.16666665459) (f32x4.mul (local.get $r)
          (f32x4.add (v128.const f32x4 0.041665795894 0.041665795894 0.041665795894 0.041665795894) (f32x4.mul (local.get $r)
          (f32x4.add (v128.const f32x4 0.0083334519073 0.0083334519073 0.0083334519073 0.0083334519073) (f32x4.mul (local.get $r)
          (f32x4.add (v128.const f32x4 0.0013981999507 0.0013981999507 0.0013981999507 0.0013981999507) (f32x4.mul (local.get $r)
            (v128.const f32x4 1.9875691500e-4 1.9875691500e-4 1.9875691500e-4 1.9875691500e-4)))))))))))))))

  (func $sum (param $x v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $x)) (f32x4.extract_lane 1 (local.get $x)))
      (f32.add (f32x4.extract_lane 2 (local.get $x)) (f32x4.extract_lane 3 (local.get $x)))))

  ;; out = t (1 + erf(t / sqrt 2)) / 2 of t = x + bias: x and out [rows, width], bias [width]; bytes = 4 width.
  ;; erf by Abramowitz, Stegun 1964, 7.1.26, absolute error below 1.5e-7.
  (func (export "gelu") (param $x i32) (param $bias i32) (param $out i32) (param $rows i32) (param $bytes i32)
    (local $at i32) (local $t v128) (local $a v128) (local $k v128)
    (block $done (loop $row
      (br_if $done (i32.eqz (local.get $rows)))
      (local.set $at (i32.const 0))
      (loop $column
        (local.set $t (f32x4.add (v128.load (i32.add (local.get $x) (local.get $at))) (v128.load (i32.add (local.get $bias) (local.get $at)))))
        (local.set $a (f32x4.mul (f32x4.abs (local.get $t)) (v128.const f32x4 0.70710678 0.70710678 0.70710678 0.70710678)))
        (local.set $k (f32x4.div (v128.const f32x4 1 1 1 1)
          (f32x4.add (v128.const f32x4 1 1 1 1) (f32x4.mul (local.get $a) (v128.const f32x4 0.3275911 0.3275911 0.3275911 0.3275911)))))
        (local.set $a (f32x4.sub (v128.const f32x4 1 1 1 1) (f32x4.mul
          (call $exp (f32x4.neg (f32x4.mul (local.get $a) (local.get $a))))
          (f32x4.mul (local.get $k) (f32x4.add (v128.const f32x4 0.254829592 0.254829592 0.254829592 0.254829592)
          (f32x4.mul (local.get $k) (f32x4.add (v128.const f32x4 -0.284496736 -0.284496736 -0.284496736 -0.284496736)
          (f32x4.mul (local.get $k) (f32x4.add (v128.const f32x4 1.421413741 1.421413741 1.421413741 1.421413741)
          (f32x4.mul (local.get $k) (f32x4.add (v128.const f32x4 -1.453152027 -1.453152027 -1.453152027 -1.453152027)
          (f32x4.mul (local.get $k) (v128.const f32x4 1.061405429 1.061405429 1.061405429 1.061405429)))))))))))))
        ;; erf has the sign of t
        (local.set $a (v128.or (local.get $a) (v128.and (local.get $t) (v128.const i32x4 0x80000000 0x80000000 0x80000000 0x80000000))))
        (v128.store (i32.add (local.get $out) (local.get $at))
          (f32x4.mul (f32x4.mul (local.get $t) (v128.const f32x4 0.5 0.5 0.5 0.5)) (f32x4.add (v128.const f32x4 1 1 1 1) (local.get $a))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $column (i32.lt_u (local.get $at) (local.get $bytes))))
      (local.set $x (i32.add (local.get $x) (local.get $bytes)))
      (local.set $out (i32.add (local.get $out) (local.get $bytes)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br $row))))

  ;; out = (t - mean) / sqrt(variance + epsilon) scale + shift of t = x + bias + beside by row:
  ;; x, beside and out [rows, width], bias, scale and shift [width]; bytes = 4 width.
  (func (export "normalise")
    (param $x i32) (param $bias i32) (param $beside i32) (param $scale i32) (param $shift i32) (param $out i32)
    (param $rows i32) (param $bytes i32) (param $epsilon f32)
    (local $at i32) (local $total v128) (local $t v128) (local $mean v128) (local $factor v128) (local $width f32)
    (local.set $width (f32.convert_i32_u (i32.shr_u (local.get $bytes) (i32.const 2))))
    (block $done (loop $row
      (br_if $done (i32.eqz (local.get $rows)))
      (local.set $at (i32.const 0))
      (local.set $total (v128.const f32x4 0 0 0 0))
      (loop $add
        (local.set $t (f32x4.add (v128.load (i32.add (local.get $x) (local.get $at)))
          (f32x4.add (v128.load (i32.add (local.get $bias) (local.get $at))) (v128.load (i32.add (local.get $beside) (local.get $at))))))
        (v128.store (i32.add (local.get $out) (local.get $at)) (local.get $t))
        (local.set $total (f32x4.add (local.get $total) (local.get $t)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $add (i32.lt_u (local.get $at) (local.get $bytes))))
      (local.set $mean (f32x4.splat (f32.div (call $sum (local.get $total)) (local.get $width))))
      (local.set $at (i32.const 0))
      (local.set $total (v128.const f32x4 0 0 0 0))
      (loop $square
        (local.set $t (f32x4.sub (v128.load (i32.add (local.get $out) (local.get $at))) (local.get $mean)))
        (local.set $total (f32x4.add (local.get $total) (f32x4.mul (local.get $t) (local.get $t))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $square (i32.lt_u (local.get $at) (local.get $bytes))))
      (local.set $factor (f32x4.splat (f32.div (f32.const 1)
        (f32.sqrt (f32.add (f32.div (call $sum (local.get $total)) (local.get $width)) (local.get $epsilon))))))
      (local.set $at (i32.const 0))
      (loop $write
        (local.set $t (f32x4.sub (v128.load (i32.add (local.get $out) (local.get $at))) (local.get $mean)))
        (v128.store (i32.add (local.get $out) (local.get $at))
          (f32x4.add (f32x4.mul (f32x4.mul (local.get $t) (local.get $factor)) (v128.load (i32.add (local.get $scale) (local.get $at))))
            (v128.load (i32.add (local.get $shift) (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $write (i32.lt_u (local.get $at) (local.get $bytes))))
      (local.set $x (i32.add (local.get $x) (local.get $bytes)))
      (local.set $beside (i32.add (local.get $beside) (local.get $bytes)))
      (local.set $out (i32.add (local.get $out) (local.get $bytes)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br $row))))

  ;; Attention of one head of one text: out[i] = sum over j of softmax_j((query[i] + bias) . key[j] factor) value[j] + valueBias.
  ;; The bias of keys adds the same to all logits of a query, which softmax ignores.
  ;;
  ;;   query, key, value   float32 [length, size], rows `stride` bytes apart
  ;;   bias, valueBias     float32 [size]
  ;;   out                 float32 [length, size], rows `outStride` bytes apart
  ;;   keys                room for float32 [size, wide]: the keys by number; wide is length, rounded up to a multiple of 16
  ;;   row                 room for float32 [wide]
  (func (export "attend")
    (param $query i32) (param $key i32) (param $value i32) (param $bias i32) (param $valueBias i32) (param $out i32)
    (param $keys i32) (param $row i32) (param $length i32) (param $wide i32) (param $size i32) (param $stride i32) (param $outStride i32)
    (param $factor f32)
    (local $i i32) (local $j i32) (local $d i32) (local $p i32) (local $q i32) (local $rowEnd i32) (local $bytes i32) (local $wideBytes i32)
    (local $a v128) (local $b v128) (local $c v128) (local $e v128) (local $s v128) (local $most v128) (local $total v128) (local $inverse v128)
    (local $top f32)
    (local.set $bytes (i32.shl (local.get $size) (i32.const 2)))
    (local.set $wideBytes (i32.shl (local.get $wide) (i32.const 2)))
    (local.set $rowEnd (i32.add (local.get $row) (local.get $wideBytes)))
    ;; keys by number: what is beyond the length stays what it was, and is overwritten in each row of logits
    (block $copied (loop $copy
      (br_if $copied (i32.ge_u (local.get $j) (local.get $length)))
      (local.set $p (i32.add (local.get $key) (i32.mul (local.get $j) (local.get $stride))))
      (local.set $q (i32.add (local.get $keys) (i32.shl (local.get $j) (i32.const 2))))
      (local.set $d (i32.const 0))
      (loop $number
        (f32.store (local.get $q) (f32.load (i32.add (local.get $p) (local.get $d))))
        (local.set $q (i32.add (local.get $q) (local.get $wideBytes)))
        (local.set $d (i32.add (local.get $d) (i32.const 4)))
        (br_if $number (i32.lt_u (local.get $d) (local.get $bytes))))
      (local.set $j (i32.add (local.get $j) (i32.const 1)))
      (br $copy)))
    (loop $queries
      ;; logits, 16 keys at a time
      (local.set $most (f32x4.splat (f32.const -inf)))
      (local.set $j (i32.const 0))
      (loop $block
        (local.set $a (v128.const f32x4 0 0 0 0)) (local.set $b (v128.const f32x4 0 0 0 0))
        (local.set $c (v128.const f32x4 0 0 0 0)) (local.set $e (v128.const f32x4 0 0 0 0))
        (local.set $q (i32.add (local.get $keys) (local.get $j)))
        (local.set $d (i32.const 0))
        (loop $dot
          (local.set $s (f32x4.splat (f32.mul (local.get $factor)
            (f32.add (f32.load (i32.add (local.get $query) (local.get $d))) (f32.load (i32.add (local.get $bias) (local.get $d)))))))
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $s) (v128.load (local.get $q)))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $s) (v128.load offset=16 (local.get $q)))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $s) (v128.load offset=32 (local.get $q)))))
          (local.set $e (f32x4.add (local.get $e) (f32x4.mul (local.get $s) (v128.load offset=48 (local.get $q)))))
          (local.set $q (i32.add (local.get $q) (local.get $wideBytes)))
          (local.set $d (i32.add (local.get $d) (i32.const 4)))
          (br_if $dot (i32.lt_u (local.get $d) (local.get $bytes))))
        (local.set $p (i32.add (local.get $row) (local.get $j)))
        (v128.store (local.get $p) (local.get $a))
        (v128.store offset=16 (local.get $p) (local.get $b))
        (v128.store offset=32 (local.get $p) (local.get $c))
        (v128.store offset=48 (local.get $p) (local.get $e))
        (local.set $j (i32.add (local.get $j) (i32.const 64)))
        (br_if $block (i32.lt_u (local.get $j) (local.get $wideBytes))))
      (local.set $p (i32.add (local.get $row) (i32.shl (local.get $length) (i32.const 2))))
      (block $padded (loop $pad
        (br_if $padded (i32.ge_u (local.get $p) (local.get $rowEnd)))
        (f32.store (local.get $p) (f32.const -inf))
        (local.set $p (i32.add (local.get $p) (i32.const 4)))
        (br $pad)))
      ;; softmax without its division
      (local.set $p (local.get $row))
      (loop $largest
        (local.set $most (f32x4.pmax (local.get $most) (v128.load (local.get $p))))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (br_if $largest (i32.lt_u (local.get $p) (local.get $rowEnd))))
      (local.set $top (f32.max
        (f32.max (f32x4.extract_lane 0 (local.get $most)) (f32x4.extract_lane 1 (local.get $most)))
        (f32.max (f32x4.extract_lane 2 (local.get $most)) (f32x4.extract_lane 3 (local.get $most)))))
      (local.set $most (f32x4.splat (local.get $top)))
      (local.set $total (v128.const f32x4 0 0 0 0))
      (local.set $p (local.get $row))
      (loop $exponent
        (local.set $s (call $exp (f32x4.sub (v128.load (local.get $p)) (local.get $most))))
        (v128.store (local.get $p) (local.get $s))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (local.set $total (f32x4.add (local.get $total) (local.get $s)))
        (br_if $exponent (i32.lt_u (local.get $p) (local.get $rowEnd))))
      (local.set $inverse (f32x4.splat (f32.div (f32.const 1) (call $sum (local.get $total)))))
      ;; the mean of the values, 16 numbers at a time
      (local.set $d (i32.const 0))
      (loop $numbers
        (local.set $a (v128.const f32x4 0 0 0 0)) (local.set $b (v128.const f32x4 0 0 0 0))
        (local.set $c (v128.const f32x4 0 0 0 0)) (local.set $e (v128.const f32x4 0 0 0 0))
        (local.set $q (i32.add (local.get $value) (local.get $d)))
        (local.set $p (local.get $row))
        (local.set $j (i32.const 0))
        (loop $values
          (local.set $s (v128.load32_splat (local.get $p)))
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $s) (v128.load (local.get $q)))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $s) (v128.load offset=16 (local.get $q)))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $s) (v128.load offset=32 (local.get $q)))))
          (local.set $e (f32x4.add (local.get $e) (f32x4.mul (local.get $s) (v128.load offset=48 (local.get $q)))))
          (local.set $p (i32.add (local.get $p) (i32.const 4)))
          (local.set $q (i32.add (local.get $q) (local.get $stride)))
          (local.set $j (i32.add (local.get $j) (i32.const 1)))
          (br_if $values (i32.lt_u (local.get $j) (local.get $length))))
        (local.set $p (i32.add (local.get $out) (local.get $d)))
        (local.set $q (i32.add (local.get $valueBias) (local.get $d)))
        (v128.store (local.get $p) (f32x4.add (f32x4.mul (local.get $a) (local.get $inverse)) (v128.load (local.get $q))))
        (v128.store offset=16 (local.get $p) (f32x4.add (f32x4.mul (local.get $b) (local.get $inverse)) (v128.load offset=16 (local.get $q))))
        (v128.store offset=32 (local.get $p) (f32x4.add (f32x4.mul (local.get $c) (local.get $inverse)) (v128.load offset=32 (local.get $q))))
        (v128.store offset=48 (local.get $p) (f32x4.add (f32x4.mul (local.get $e) (local.get $inverse)) (v128.load offset=48 (local.get $q))))
        (local.set $d (i32.add (local.get $d) (i32.const 64)))
        (br_if $numbers (i32.lt_u (local.get $d) (local.get $bytes))))
      (local.set $query (i32.add (local.get $query) (local.get $stride)))
      (local.set $out (i32.add (local.get $out) (local.get $outStride)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $queries (i32.lt_u (local.get $i) (local.get $length))))))
