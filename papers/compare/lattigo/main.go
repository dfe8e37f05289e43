// Single operations of Lattigo: one JSON argument says which, one JSON line says how long they took. Results are checked by decryption.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

type asked struct {
	Form     string `json:"form"`
	LogN     int    `json:"log_n"`
	T        uint64 `json:"t"`
	Words    int    `json:"words"`
	Special  int    `json:"special"`
	WordBits int    `json:"word_bits"`
	Runs     int    `json:"runs"`
}

type answer struct {
	Version  string               `json:"version"`
	LogQ     float64              `json:"log_q"`
	LogP     float64              `json:"log_p"`
	Facts    string               `json:"facts"`
	Notes    map[string]string    `json:"notes"`
	Seconds  map[string][]float64 `json:"seconds"`
	Verified bool                 `json:"verified"`
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// timed gives the seconds of each run, after one that does not count.
func timed(runs int, operation func()) []float64 {
	operation()
	seconds := make([]float64, runs)
	for i := range seconds {
		started := time.Now()
		operation()
		seconds[i] = time.Since(started).Seconds()
	}
	return seconds
}

func repeated(bits, count int) []int {
	return slices.Repeat([]int{bits}, count)
}

func main() {
	var ask asked
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "expected one argument, a JSON object")
		os.Exit(2)
	}
	if err := json.Unmarshal([]byte(os.Args[1]), &ask); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	params := must(bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN:             ask.LogN,
		LogQ:             repeated(ask.WordBits, ask.Words),
		LogP:             repeated(ask.WordBits, ask.Special),
		PlaintextModulus: ask.T,
	}))
	kgen := rlwe.NewKeyGenerator(params)
	sk, pk := kgen.GenKeyPairNew()
	steps := []int{1, 2, 3, 4, 5, 6, 7, 8}
	elements := make([]uint64, len(steps))
	for i, k := range steps {
		elements[i] = params.GaloisElementForColRotation(k)
	}
	keys := rlwe.NewMemEvaluationKeySet(kgen.GenRelinearizationKeyNew(sk), kgen.GenGaloisKeysNew(elements, sk)...)
	invariant := ask.Form == "bfv"
	eval := bgv.NewEvaluator(params, keys, invariant)
	encoder := bgv.NewEncoder(params)
	encryptor, decryptor := rlwe.NewEncryptor(params, pk), rlwe.NewDecryptor(params, sk)

	slots := params.MaxSlots()
	random := func() []uint64 {
		values := make([]uint64, slots)
		for i := range values {
			values[i] = rand.Uint64N(ask.T)
		}
		return values
	}
	encode := func(values []uint64) *rlwe.Plaintext {
		plain := bgv.NewPlaintext(params, params.MaxLevel())
		if err := encoder.Encode(values, plain); err != nil {
			must(0, err)
		}
		return plain
	}
	decrypt := func(x *rlwe.Ciphertext) []uint64 {
		values := make([]uint64, slots)
		if err := encoder.Decode(decryptor.DecryptNew(x), values); err != nil {
			must(0, err)
		}
		return values
	}
	v, w := random(), random()
	plain := encode(w)
	a, b := must(encryptor.EncryptNew(encode(v))), must(encryptor.EncryptNew(plain))

	pool := rlwe.NewPool(params.RingQP())
	hoisted := func() map[int]*rlwe.Ciphertext {
		out := make(map[int]*rlwe.Ciphertext, len(steps))
		level := a.Level()
		digits := pool.GetBuffDecompQP(*params.GetRLWEParameters(), level, params.MaxLevelP())
		defer pool.RecycleBuffDecompQP(digits)
		eval.DecomposeNTT(level, params.MaxLevelP(), params.MaxLevelP()+1, a.Value[1], a.IsNTT, digits)
		for i, k := range steps {
			out[k] = bgv.NewCiphertext(params, 1, level)
			if err := eval.AutomorphismHoisted(level, a, digits, elements[i], out[k]); err != nil {
				must(0, err)
			}
		}
		return out
	}

	product, sum, turned := make([]uint64, slots), make([]uint64, slots), make([]uint64, slots)
	for i := range product {
		product[i], sum[i] = v[i]*w[i]%ask.T, (v[i]+w[i])%ask.T
		row, column := i/(slots/2), i%(slots/2)
		turned[i] = v[row*(slots/2)+(column+3)%(slots/2)]
	}
	verified := slices.Equal(decrypt(must(eval.MulRelinNew(a, b))), product) &&
		slices.Equal(decrypt(must(eval.MulNew(a, plain))), product) &&
		slices.Equal(decrypt(must(eval.AddNew(a, b))), sum) &&
		slices.Equal(decrypt(must(eval.RotateColumnsNew(a, 3))), turned) &&
		slices.Equal(decrypt(hoisted()[3]), turned)

	seconds := map[string][]float64{
		"multiply and relinearize":            timed(ask.Runs, func() { must(eval.MulRelinNew(a, b)) }),
		"rotate":                              timed(ask.Runs, func() { must(eval.RotateColumnsNew(a, 1)) }),
		"multiply by a transformed plaintext": timed(ask.Runs, func() { must(eval.MulNew(a, plain)) }),
		"add":                                 timed(ask.Runs, func() { must(eval.AddNew(a, b)) }),
		"encode and encrypt, public key": timed(ask.Runs, func() {
			must(encryptor.EncryptNew(encode(v)))
		}),
		"decrypt and decode": timed(ask.Runs, func() { decrypt(a) }),
	}
	seconds["hoisted rotate"] = timed(ask.Runs, func() { hoisted() })
	for i := range seconds["hoisted rotate"] {
		seconds["hoisted rotate"][i] /= float64(len(steps))
	}
	if !invariant {
		lower := func() *rlwe.Ciphertext {
			out := bgv.NewCiphertext(params, 1, a.Level()-1)
			if err := eval.Rescale(a, out); err != nil {
				must(0, err)
			}
			return out
		}
		verified = verified && slices.Equal(decrypt(lower()), v)
		seconds["modulus switch"] = timed(ask.Runs, func() { lower() })
	}
	note := map[string]string{}
	if invariant {
		note[""] = "scale-invariant products of a BGV evaluator"
	}
	line := must(json.Marshal(answer{
		Version:  "v6.2.0",
		LogQ:     params.LogQ(),
		LogP:     params.LogP(),
		Facts:    fmt.Sprintf("%d digits", params.BaseRNSDecompositionVectorSize(params.MaxLevel(), params.MaxLevelP())),
		Notes:    note,
		Seconds:  seconds,
		Verified: verified,
	}))
	fmt.Println(string(line))
}
