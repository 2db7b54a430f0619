import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Pin } from '../../client/sealed/call-seals.ts'
import { makePrivateFolder, writePrivateFile } from './private-files.ts'

/** A pin that outlives the process: it is set as long as there is this file. */
export function openPinFile(path: string): Pin {
  let isSet = existsSync(path)
  return {
    get isSet() {
      return isSet
    },
    set() {
      if (isSet) return
      makePrivateFolder(dirname(path))
      writePrivateFile(path, '')
      isSet = true
    }
  }
}
