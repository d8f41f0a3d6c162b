# Front door: everything is built into build/ (tools in build/tools, libraries in build/lib).
BUILD ?= build
PREFIX ?= /usr/local
.PHONY: setup build install package wheels demo test soak models models-amdgpu format clean
build: setup $(BUILD)/build.ninja
	@if [ -t 1 ]; then ninja -C $(BUILD); else : >$(BUILD)/build.log; build_tools/progress.sh build $(BUILD)/build.log ninja -C $(BUILD); fi
$(BUILD)/build.ninja:
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
$(BUILD)/build.ninja: | setup
setup:
	@build_tools/setup.sh
install: build
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)
package: build
	@cpack --config $(BUILD)/CPackConfig.cmake >$(BUILD)/package.log || { tail -n 20 $(BUILD)/package.log; exit 1; }
	@ls -1 $(BUILD)/packages/*.tar.gz $(BUILD)/packages/*.deb 2>/dev/null
wheels: build
	@.venv/bin/python python/wheels.py $(BUILD)
demo: build
	@examples/digits/demo.sh $(BUILD)
test: build
	@tests/run.sh $(BUILD)
soak: build
	@tests/soak.sh $(BUILD)
models: build
	@benchmarks/models/check.sh $(BUILD)
models-amdgpu: build
	@.venv/bin/python tests/softgpu/run_models.py --build $(BUILD)
	@.venv/bin/python tests/softgpu/run_models.py --build $(BUILD) --check all --target gfx1100 --target gfx942
format:
	@git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format-22 -i
clean:
	@rm -rf $(BUILD) build-*/
