import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../lib/store/open.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import { storeContract } from '../store/contract.ts'

storeContract(t, t => {
  const dataDirectory = join(memoryFolder(t), 'data')
  return () => openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
})
