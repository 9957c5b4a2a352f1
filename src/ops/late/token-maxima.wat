;; The largest product of each token of a question with a token of each turn, for rows of 8 bits:
;;
;;   out[turn][t] = max over tokens s of the turn of scales[s] * sum over d of turns[s][d] * question[t][d]
;;
;; and minus infinity for a turn without a token. Sums are exact in 32 bits; whoever calls limits the numbers of the question.
;; Two tokens of a turn and four of the question at a time, eight numbers of each: 64 products in 22 instructions.
;;
;;   turns     int8 [S, d], d a multiple of 8
;;   scales    float32 [S]
;;   starts    int32 [count + 1], the first token of each turn
;;   question  int16 [blocks, d / 8, 4, 8]: four tokens in turn, eight numbers of each
;;   out       float32 [count, blocks, 4]
(module
  (memory (import "host" "memory") 1)
  (func (export "maxima")
    (param $turns i32) (param $scales i32) (param $starts i32) (param $count i32)
    (param $question i32) (param $blocks i32) (param $d i32) (param $out i32)
    (local $turn i32) (local $block i32) (local $s i32) (local $from i32) (local $to i32)
    (local $p i32) (local $q i32) (local $end i32) (local $qsize i32)
    (local $x v128) (local $y v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local $k v128) (local $best v128)
    (local.set $qsize (i32.mul (local.get $d) (i32.const 8))) ;; bytes of a block: 4 tokens of d int16
    (block $done (loop $turns_
      (br_if $done (i32.ge_u (local.get $turn) (local.get $count)))
      (local.set $from (i32.load (i32.add (local.get $starts) (i32.shl (local.get $turn) (i32.const 2)))))
      (local.set $to (i32.load offset=4 (i32.add (local.get $starts) (i32.shl (local.get $turn) (i32.const 2)))))
      (local.set $block (i32.const 0))
      (block $noblock (loop $blocks_
        (br_if $noblock (i32.ge_u (local.get $block) (local.get $blocks)))
        (local.set $best (f32x4.splat (f32.const -inf)))
        (local.set $s (local.get $from))
        (block $nopair (loop $pairs_
          (br_if $nopair (i32.ge_u (i32.add (local.get $s) (i32.const 1)) (local.get $to)))
          (local.set $p (i32.add (local.get $turns) (i32.mul (local.get $s) (local.get $d))))
          (local.set $end (i32.add (local.get $p) (local.get $d)))
          (local.set $q (i32.add (local.get $question) (i32.mul (local.get $block) (local.get $qsize))))
          (local.set $a0 (v128.const i32x4 0 0 0 0)) (local.set $a1 (v128.const i32x4 0 0 0 0))
          (local.set $a2 (v128.const i32x4 0 0 0 0)) (local.set $a3 (v128.const i32x4 0 0 0 0))
          (local.set $b0 (v128.const i32x4 0 0 0 0)) (local.set $b1 (v128.const i32x4 0 0 0 0))
          (local.set $b2 (v128.const i32x4 0 0 0 0)) (local.set $b3 (v128.const i32x4 0 0 0 0))
          (loop $inner
            (local.set $x (v128.load8x8_s (local.get $p)))
            (local.set $y (v128.load8x8_s (i32.add (local.get $p) (local.get $d))))
            (local.set $k (v128.load (local.get $q)))
            (local.set $a0 (i32x4.add (local.get $a0) (i32x4.dot_i16x8_s (local.get $x) (local.get $k))))
            (local.set $b0 (i32x4.add (local.get $b0) (i32x4.dot_i16x8_s (local.get $y) (local.get $k))))
            (local.set $k (v128.load offset=16 (local.get $q)))
            (local.set $a1 (i32x4.add (local.get $a1) (i32x4.dot_i16x8_s (local.get $x) (local.get $k))))
            (local.set $b1 (i32x4.add (local.get $b1) (i32x4.dot_i16x8_s (local.get $y) (local.get $k))))
            (local.set $k (v128.load offset=32 (local.get $q)))
            (local.set $a2 (i32x4.add (local.get $a2) (i32x4.dot_i16x8_s (local.get $x) (local.get $k))))
            (local.set $b2 (i32x4.add (local.get $b2) (i32x4.dot_i16x8_s (local.get $y) (local.get $k))))
            (local.set $k (v128.load offset=48 (local.get $q)))
            (local.set $a3 (i32x4.add (local.get $a3) (i32x4.dot_i16x8_s (local.get $x) (local.get $k))))
            (local.set $b3 (i32x4.add (local.get $b3) (i32x4.dot_i16x8_s (local.get $y) (local.get $k))))
            (local.set $q (i32.add (local.get $q) (i32.const 64)))
            (local.set $p (i32.add (local.get $p) (i32.const 8)))
            (br_if $inner (i32.lt_u (local.get $p) (local.get $end))))
          (local.set $best (f32x4.pmax (local.get $best) (call $finish (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3)
            (f32.load (i32.add (local.get $scales) (i32.shl (local.get $s) (i32.const 2)))))))
          (local.set $best (f32x4.pmax (local.get $best) (call $finish (local.get $b0) (local.get $b1) (local.get $b2) (local.get $b3)
            (f32.load offset=4 (i32.add (local.get $scales) (i32.shl (local.get $s) (i32.const 2)))))))
          (local.set $s (i32.add (local.get $s) (i32.const 2)))
          (br $pairs_)))
        (if (i32.lt_u (local.get $s) (local.get $to)) (then
          (local.set $p (i32.add (local.get $turns) (i32.mul (local.get $s) (local.get $d))))
          (local.set $end (i32.add (local.get $p) (local.get $d)))
          (local.set $q (i32.add (local.get $question) (i32.mul (local.get $block) (local.get $qsize))))
          (local.set $a0 (v128.const i32x4 0 0 0 0)) (local.set $a1 (v128.const i32x4 0 0 0 0))
          (local.set $a2 (v128.const i32x4 0 0 0 0)) (local.set $a3 (v128.const i32x4 0 0 0 0))
          (loop $inner1
            (local.set $x (v128.load8x8_s (local.get $p)))
            (local.set $a0 (i32x4.add (local.get $a0) (i32x4.dot_i16x8_s (local.get $x) (v128.load (local.get $q)))))
            (local.set $a1 (i32x4.add (local.get $a1) (i32x4.dot_i16x8_s (local.get $x) (v128.load offset=16 (local.get $q)))))
            (local.set $a2 (i32x4.add (local.get $a2) (i32x4.dot_i16x8_s (local.get $x) (v128.load offset=32 (local.get $q)))))
            (local.set $a3 (i32x4.add (local.get $a3) (i32x4.dot_i16x8_s (local.get $x) (v128.load offset=48 (local.get $q)))))
            (local.set $q (i32.add (local.get $q) (i32.const 64)))
            (local.set $p (i32.add (local.get $p) (i32.const 8)))
            (br_if $inner1 (i32.lt_u (local.get $p) (local.get $end))))
          (local.set $best (f32x4.pmax (local.get $best) (call $finish (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3)
            (f32.load (i32.add (local.get $scales) (i32.shl (local.get $s) (i32.const 2)))))))))
        (v128.store (i32.add (local.get $out) (i32.shl (i32.add (i32.mul (local.get $turn) (local.get $blocks)) (local.get $block)) (i32.const 4))) (local.get $best))
        (local.set $block (i32.add (local.get $block) (i32.const 1)))
        (br $blocks_)))
      (local.set $turn (i32.add (local.get $turn) (i32.const 1)))
      (br $turns_))))
  ;; the sums of four accumulators, times a scale
  (func $finish (param $a v128) (param $b v128) (param $c v128) (param $e v128) (param $scale f32) (result v128)
    (local $l v128) (local $h v128)
    (local.set $l (i32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $a) (local.get $b))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $a) (local.get $b)))) ;; a02 b02 a13 b13
    (local.set $h (i32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $c) (local.get $e))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $c) (local.get $e))))
    (f32x4.mul (f32x4.splat (local.get $scale)) (f32x4.convert_i32x4_s (i32x4.add
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $l) (local.get $h))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $l) (local.get $h)))))))
