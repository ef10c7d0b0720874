package rlock

import "fmt"

// negative returns the error for a count below zero.
func negative(n int) error {
	if n < 0 {
		return fmt.Errorf("rlock: %d permits", n)
	}
	return nil
}

// numbers reads an array of at least n integers.
func numbers(reply any, n int) ([]int64, error) {
	values, _ := reply.([]any)
	numbers := make([]int64, 0, n)
	for _, v := range values {
		if i, ok := v.(int64); ok {
			numbers = append(numbers, i)
		}
	}
	if len(numbers) < n {
		return nil, strange(reply)
	}
	return numbers, nil
}

// number reads an integer, with err as it came.
func number(reply any, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, ok := reply.(int64)
	if !ok {
		return 0, strange(reply)
	}
	return int(n), nil
}

func strange(reply any) error { return fmt.Errorf("rlock: strange reply %v", reply) }
