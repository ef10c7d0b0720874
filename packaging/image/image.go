package main

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// userID is the user and the group that the server runs as, as in the image of Redis.
const userID = 999

// image returns the image of a variant for one architecture.
func (b *build) image(v variant, arch string) (v1.Image, error) {
	key := v.suffix + " " + arch
	if img, ok := b.images[key]; ok {
		return img, nil
	}
	img, err := b.newImage(v, arch)
	if err == nil {
		b.images[key] = img
	}
	return img, err
}

func (b *build) newImage(v variant, arch string) (v1.Image, error) {
	if err := b.checkExecutable(v, arch); err != nil {
		return nil, err
	}
	files, err := b.files(v, arch)
	if err != nil {
		return nil, err
	}
	layer, err := pack(files, b.time)
	if err != nil {
		return nil, err
	}
	img := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: b.time}, CreatedBy: "lockredis packaging/image"}})
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	p := platform(arch)
	file.OS, file.Architecture, file.Variant = p.OS, p.Architecture, p.Variant
	file.Created = v1.Time{Time: b.time}
	file.Config = b.config()
	return mutate.ConfigFile(img, file)
}

// platform returns an architecture in the form of registries.
func platform(arch string) v1.Platform {
	p := v1.Platform{OS: "linux", Architecture: arch}
	if arch == "arm64" {
		p.Variant = "v8"
	}
	return p
}

// config returns what the image of Redis has: its user, port, volume, entrypoint and
// command. Listening on all interfaces comes from the environment, so that every way to
// start the server has it and every directive overrides it.
func (b *build) config() v1.Config {
	return v1.Config{
		User:         fmt.Sprintf("%d:%d", userID, userID),
		ExposedPorts: map[string]struct{}{"6379/tcp": {}},
		Env: []string{
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"LOCKREDIS_DEFAULTS=--bind * -::* --protected-mode no",
		},
		Volumes:    map[string]struct{}{"/data": {}},
		WorkingDir: "/data",
		Entrypoint: []string{"docker-entrypoint.sh"},
		Cmd:        []string{"redis-server"},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "lockredis",
			"org.opencontainers.image.description": "Redis server made for lock work, in memory",
			"org.opencontainers.image.source":      "https://github.com/lockredis/lockredis",
			"org.opencontainers.image.licenses":    "MIT",
			"org.opencontainers.image.version":     b.version,
			"org.opencontainers.image.revision":    b.commit,
			// Spring Boot knows Redis by the image's name, or by this label.
			"org.springframework.boot.service-connection": "redis",
		},
	}
}
