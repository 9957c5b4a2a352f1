;; Rows of the product of a sparse matrix with a dense one: sums in float64, rounded to float32 after each group of four
;; entries and after each entry that is left over, in the order of the entries.
;;
;;   offsets  int32 [rows + 1], the first entry of each row, and the end of the last
;;   columns  int32 [entries], the row of the dense matrix of each
;;   values   float64 [entries]
;;   dense    float32 rows of $bytes, a multiple of 16
;;   out      float32 [rows] of $bytes, zero at first
;;
;; The places of columns and values are those of entry 0, wherever the first entry is.
(module
  (memory (import "host" "memory") 1)
  (func (export "multiply")
    (param $offsets i32) (param $rows i32) (param $columns i32) (param $values i32) (param $dense i32) (param $out i32)
    (param $bytes i32)
    (local $entry i32) (local $end i32) (local $last i32) (local $column i32) (local $value i32) (local $next i32)
    (local $a i32) (local $b i32) (local $c i32) (local $d i32)
    (local $va v128) (local $vb v128) (local $vc v128) (local $vd v128)
    (local.set $last (i32.add (local.get $offsets) (i32.shl (local.get $rows) (i32.const 2))))
    (block $done (loop $row
      (br_if $done (i32.ge_u (local.get $offsets) (local.get $last)))
      (local.set $entry (i32.load (local.get $offsets)))
      (local.set $end (i32.load offset=4 (local.get $offsets)))
      (local.set $offsets (i32.add (local.get $offsets) (i32.const 4)))
      (local.set $column (i32.add (local.get $columns) (i32.shl (local.get $entry) (i32.const 2))))
      (local.set $value (i32.add (local.get $values) (i32.shl (local.get $entry) (i32.const 3))))
      (local.set $next (i32.add (local.get $out) (local.get $bytes)))
      (block $four_ (loop $four
        (br_if $four_ (i32.lt_u (i32.sub (local.get $end) (local.get $entry)) (i32.const 4)))
        (local.set $a (i32.add (local.get $dense) (i32.mul (i32.load (local.get $column)) (local.get $bytes))))
        (local.set $b (i32.add (local.get $dense) (i32.mul (i32.load offset=4 (local.get $column)) (local.get $bytes))))
        (local.set $c (i32.add (local.get $dense) (i32.mul (i32.load offset=8 (local.get $column)) (local.get $bytes))))
        (local.set $d (i32.add (local.get $dense) (i32.mul (i32.load offset=12 (local.get $column)) (local.get $bytes))))
        (local.set $va (v128.load64_splat (local.get $value)))
        (local.set $vb (v128.load64_splat offset=8 (local.get $value)))
        (local.set $vc (v128.load64_splat offset=16 (local.get $value)))
        (local.set $vd (v128.load64_splat offset=24 (local.get $value)))
        (local.set $entry (i32.add (local.get $entry) (i32.const 4)))
        (local.set $column (i32.add (local.get $column) (i32.const 16)))
        (local.set $value (i32.add (local.get $value) (i32.const 32)))
        (loop $numbers
          (v128.store64_lane 0 (local.get $out) (f32x4.demote_f64x2_zero (f64x2.add
            (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $out)))
            (f64x2.add (f64x2.add (f64x2.add
              (f64x2.mul (local.get $va) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $a))))
              (f64x2.mul (local.get $vb) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $b)))))
              (f64x2.mul (local.get $vc) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $c)))))
              (f64x2.mul (local.get $vd) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $d))))))))
          (v128.store64_lane offset=8 0 (local.get $out) (f32x4.demote_f64x2_zero (f64x2.add
            (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $out)))
            (f64x2.add (f64x2.add (f64x2.add
              (f64x2.mul (local.get $va) (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $a))))
              (f64x2.mul (local.get $vb) (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $b)))))
              (f64x2.mul (local.get $vc) (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $c)))))
              (f64x2.mul (local.get $vd) (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $d))))))))
          (local.set $a (i32.add (local.get $a) (i32.const 16)))
          (local.set $b (i32.add (local.get $b) (i32.const 16)))
          (local.set $c (i32.add (local.get $c) (i32.const 16)))
          (local.set $d (i32.add (local.get $d) (i32.const 16)))
          (local.set $out (i32.add (local.get $out) (i32.const 16)))
          (br_if $numbers (i32.lt_u (local.get $out) (local.get $next))))
        (local.set $out (i32.sub (local.get $out) (local.get $bytes)))
        (br $four)))
      (block $one_ (loop $one
        (br_if $one_ (i32.ge_u (local.get $entry) (local.get $end)))
        (local.set $a (i32.add (local.get $dense) (i32.mul (i32.load (local.get $column)) (local.get $bytes))))
        (local.set $va (v128.load64_splat (local.get $value)))
        (local.set $entry (i32.add (local.get $entry) (i32.const 1)))
        (local.set $column (i32.add (local.get $column) (i32.const 4)))
        (local.set $value (i32.add (local.get $value) (i32.const 8)))
        (loop $numbers
          (v128.store64_lane 0 (local.get $out) (f32x4.demote_f64x2_zero (f64x2.add
            (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $out)))
            (f64x2.mul (local.get $va) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $a)))))))
          (local.set $a (i32.add (local.get $a) (i32.const 8)))
          (local.set $out (i32.add (local.get $out) (i32.const 8)))
          (br_if $numbers (i32.lt_u (local.get $out) (local.get $next))))
        (local.set $out (i32.sub (local.get $out) (local.get $bytes)))
        (br $one)))
      (local.set $out (local.get $next))
      (br $row)))))
