package hll

import (
	"encoding/binary"
	"fmt"
	"math"
)

// selfTestElements is how many elements SelfTest adds. It takes some milliseconds.
const selfTestElements = 50_000

// SelfTest adds many elements to a sketch of each encoding. It fails if the registers differ,
// or if an estimate is further from the truth than six standard errors.
func SelfTest() error {
	few, many := New(), New()
	if err := many.ToDense(); err != nil {
		return err
	}
	standardError := 1.04 / math.Sqrt(registers)
	check := 1
	for n := 1; n <= selfTestElements; n++ {
		element := binary.BigEndian.AppendUint64(nil, uint64(n))
		if _, err := few.Add(element, 3000); err != nil {
			return err
		}
		if _, err := many.Add(element, 3000); err != nil {
			return err
		}
		if n < check && n < selfTestElements {
			continue
		}
		check *= 10
		estimate, err := many.Count()
		if err != nil {
			return err
		}
		if wrong := math.Abs(float64(estimate) - float64(n)); wrong > 6*standardError*float64(n)+1 {
			return fmt.Errorf("%d elements are estimated as %d", n, estimate)
		}
		if other, err := few.Count(); err != nil || other != estimate {
			return fmt.Errorf("%d elements are %d in the other encoding (%v)", n, other, err)
		}
	}
	return nil
}
