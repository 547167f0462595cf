// Checks what a transparency log publishes with golang.org/x/mod/sumdb, which is not ours. Reads a JSON
// array of claims from standard input and writes the array of what is wrong with each, "" for nothing.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A claim about a log. Whatever it has is checked.
type claim struct {
	// Verifier keys of the log.
	Keys []string
	// The origin that the checkpoint must have.
	Origin string
	// A signed note. A proof brings its own.
	Checkpoint string
	// The text of a proof, and the canonical event that it is for.
	Proof string
	Event string
	// An earlier checkpoint, and the hashes that lead from it to the other.
	Older       string
	Consistency []string
	// The URL that `/tile/…` is appended to. Every leaf is read, and the proofs are made again.
	Tiles string
}

const tileHeight = 8
const proofHead = "c2sp.org/tlog-proof@v1\nindex "

func main() {
	var claims []claim
	if err := json.NewDecoder(os.Stdin).Decode(&claims); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	faults := make([]string, len(claims))
	for i, each := range claims {
		if err := each.check(); err != nil {
			faults[i] = err.Error()
		}
	}
	json.NewEncoder(os.Stdout).Encode(faults)
}

func (c claim) check() error {
	var proof tlog.RecordProof
	var index int64
	checkpoint := c.Checkpoint
	if c.Proof != "" {
		var err error
		if index, proof, checkpoint, err = parseProof(c.Proof); err != nil {
			return err
		}
	}
	tree, err := c.open(checkpoint)
	if err != nil {
		return err
	}
	if c.Proof != "" {
		leaf := tlog.RecordHash([]byte(c.Event))
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, leaf); err != nil {
			return err
		}
	}
	var older tlog.Tree
	var consistency tlog.TreeProof
	if c.Older != "" {
		if older, err = c.open(c.Older); err != nil {
			return err
		}
		if consistency, err = parseHashes(c.Consistency); err != nil {
			return err
		}
		if err := tlog.CheckTree(consistency, tree.N, tree.Hash, older.N, older.Hash); err != nil {
			return err
		}
	}
	if c.Tiles == "" {
		return nil
	}
	hashes := tlog.TileHashReader(tree, overHTTP(c.Tiles))
	if err := readLeaves(tree, hashes); err != nil {
		return err
	}
	if c.Proof != "" {
		made, err := tlog.ProveRecord(tree.N, index, hashes)
		if err != nil {
			return err
		}
		if !same(made, proof) {
			return errors.New("the tiles give another inclusion proof")
		}
	}
	if c.Older != "" {
		made, err := tlog.ProveTree(tree.N, older.N, hashes)
		if err != nil {
			return err
		}
		if !same(made, consistency) {
			return errors.New("the tiles give another consistency proof")
		}
	}
	return nil
}

// Opens a checkpoint that one of the keys signed.
func (c claim) open(checkpoint string) (tlog.Tree, error) {
	var verifiers []note.Verifier
	for _, key := range c.Keys {
		verifier, err := note.NewVerifier(key)
		if err != nil {
			return tlog.Tree{}, err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(checkpoint), note.VerifierList(verifiers...))
	if err != nil {
		return tlog.Tree{}, err
	}
	origin, rest, _ := strings.Cut(opened.Text, "\n")
	if origin != c.Origin {
		return tlog.Tree{}, fmt.Errorf("the origin is %q", origin)
	}
	// The library takes this origin alone.
	return tlog.ParseTree([]byte("go.sum database tree\n" + rest))
}

func parseProof(text string) (int64, tlog.RecordProof, string, error) {
	head, checkpoint, found := strings.Cut(text, "\n\n")
	if !found || !strings.HasPrefix(head, proofHead) {
		return 0, nil, "", errors.New("malformed proof")
	}
	lines := strings.Split(strings.TrimPrefix(head, proofHead), "\n")
	index, err := strconv.ParseInt(lines[0], 10, 64)
	if err != nil {
		return 0, nil, "", err
	}
	hashes, err := parseHashes(lines[1:])
	return index, hashes, checkpoint, err
}

func parseHashes(lines []string) ([]tlog.Hash, error) {
	hashes := []tlog.Hash{}
	for _, line := range lines {
		data, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(data) != tlog.HashSize {
			return nil, errors.New("malformed hash")
		}
		var hash tlog.Hash
		copy(hash[:], data)
		hashes = append(hashes, hash)
	}
	return hashes, nil
}

// Reads every leaf's hash. The reader checks each tile against the tree's root.
func readLeaves(tree tlog.Tree, hashes tlog.HashReader) error {
	for from := int64(0); from < tree.N; from += 1 << tileHeight {
		var indexes []int64
		for n := from; n < from+1<<tileHeight && n < tree.N; n++ {
			indexes = append(indexes, tlog.StoredHashIndex(0, n))
		}
		if _, err := hashes.ReadHashes(indexes); err != nil {
			return err
		}
	}
	return nil
}

func same(a, b []tlog.Hash) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i][:], b[i][:]) {
			return false
		}
	}
	return true
}

// Tiles below a URL. A tile that was read is kept, because each block of leaves asks for those above it.
type tileReader struct {
	base string
	read map[string][]byte
}

func overHTTP(base string) tlog.TileReader { return tileReader{base, map[string][]byte{}} }

func (r tileReader) Height() int { return tileHeight }

func (r tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

func (r tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		// The library's paths have the height, those of c2sp.org/tlog-tiles have not.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		if r.read[path] == nil {
			data, err := get(r.base + "/" + path)
			if err != nil {
				return nil, err
			}
			r.read[path] = data
		}
		all = append(all, r.read[path])
	}
	return all, nil
}

func get(url string) ([]byte, error) {
	response, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}
