# Each target does all that it needs, also on a fresh machine with Node 20.15 or later.
.PHONY: run test suite lint generate build e2e bench docs clean

run: build ## Start a control plane on .sternpost/
	node dist/cli/main.js dev

generate: node_modules
	@scripts/step.sh 'Generate types' npm run --silent generate

build: generate
	@scripts/step.sh 'Build' npm run --silent compile

lint: generate
	@scripts/step.sh 'Lint' npm run --silent lint

test: node_modules ## Everything; what takes one processor at a time goes side by side
	@$(MAKE) --no-print-directory --jobs=2 suite lint

# Not `npm test`, which would generate again what lint reads meanwhile. Many tests wait for processes and deadlines: three
# files at once keep two processors busy.
suite: build
	@scripts/step.sh 'Test' env STERNPOST_TEST_BUILT=1 npx jest --maxWorkers=3

e2e: build ## Only the tests from end to end: real processes, HTTPS, kubectl
	@scripts/step.sh 'End-to-end tests' npm run --silent e2e

docs: node_modules ## The reference of the library in dist/reference/
	@scripts/step.sh 'Reference' npm run --silent docs

bench: build
	npm run --silent bench

clean:
	rm -rf dist generated src/api/schema/generated src/flags/generated node_modules/.cache

node_modules: package.json package-lock.json
	@scripts/step.sh 'Install packages' npm install --no-save --no-audit --no-fund --loglevel=error
	@touch node_modules
