package lockredistest

import (
	"crypto/rand"
)

// RequireAuth makes clients AUTH with the password, from now on. "" as the password ends it.
// Connections that have authenticated stay so. Options and Client use the password from then
// on.
func (s *Server) RequireAuth(password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.password = password
	s.requirePassword()
}

// RequireUserAuth makes clients AUTH with the user's name and password, from now on. "" as the
// password removes the user. Several users can be added. The user "default" is RequireAuth's:
// without RequireAuth or the option Password that user cannot log in then. Options and Client
// use the last user that was added. The user has all rights. ACL SETUSER can take some away.
func (s *Server) RequireUserAuth(user, password string) {
	if user == "default" {
		s.RequireAuth(password)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		s.users = map[string]string{}
	}
	switch s.user = user; password {
	case "":
		delete(s.users, user)
		s.user = ""
		for name := range s.users {
			s.user = max(s.user, name)
		}
	default:
		s.users[user] = password
	}
	door(s).SetUser(user, password)
	s.requirePassword()
}

// requirePassword sets the password of the default user. If there are other users and no
// password, it is a random one that no client knows. s.mu is held.
func (s *Server) requirePassword() {
	password := s.password
	if password == "" && len(s.users) > 0 {
		password = rand.Text()
	}
	s.Keyspace.Do("CONFIG", "SET", "requirepass", password)
}

// credentials returns the user's name, "" for the default user, and the password that clients
// need.
func (s *Server) credentials() (user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.user != "" {
		return s.user, s.users[s.user]
	}
	return "", s.password
}
