// Loaded into a measured Node.js process: on SIGUSR2 it writes a breakdown of its memory in bytes to a file.
import { renameSync, writeFileSync } from 'node:fs'
import { getHeapCodeStatistics, getHeapStatistics } from 'node:v8'

const { PROBE_FOLDER } = process.env
if (PROBE_FOLDER)
  process.on('SIGUSR2', () => {
    const { total_physical_size, malloced_memory } = getHeapStatistics()
    const code = getHeapCodeStatistics()
    const { external, arrayBuffers } = process.memoryUsage()
    const made = {
      heap: total_physical_size,
      'of it code': code.code_and_metadata_size + code.bytecode_and_metadata_size,
      'text of sources': code.external_script_source_size,
      buffers: arrayBuffers,
      'other, WebAssembly too': external - arrayBuffers - code.external_script_source_size,
      'the engine itself': malloced_memory
    }
    const file = `${PROBE_FOLDER}/${process.pid}.json`
    writeFileSync(`${file}.new`, JSON.stringify(made))
    renameSync(`${file}.new`, file)
  })
