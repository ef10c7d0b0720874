package rlock

import "fmt"

// checkCount returns an error if n, an argument of the operation op, is negative.
func checkCount(op string, n int) error {
	if n < 0 {
		return fmt.Errorf("rlock: %s: %d is negative", op, n)
	}
	return nil
}

// readInts returns the integers of an array, at least n of them.
func readInts(reply any, n int) ([]int64, error) {
	values, _ := reply.([]any)
	numbers := make([]int64, 0, n)
	for _, v := range values {
		if i, ok := v.(int64); ok {
			numbers = append(numbers, i)
		}
	}
	if len(numbers) < n {
		return nil, unexpectedReply(reply)
	}
	return numbers, nil
}

// readInt returns an integer reply. An err that is not nil is returned as it is.
func readInt(reply any, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, ok := reply.(int64)
	if !ok {
		return 0, unexpectedReply(reply)
	}
	return int(n), nil
}

func unexpectedReply(reply any) error { return fmt.Errorf("rlock: unexpected reply %v", reply) }
