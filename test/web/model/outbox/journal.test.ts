import 'fake-indexeddb/auto'
import t from 'tap'
import { openDeviceDb } from '../../../../web/core/device-db.ts'
import { deviceJournal } from '../../../../web/model/outbox/journal.ts'
import { testJournal } from '../../../client/outbox/journal-contract.ts'

let opened = 0

testJournal(t, async () => {
  const name = `journal-${opened++}`
  const open = async () => deviceJournal((await openDeviceDb(name)).drafts)
  return { journal: await open(), reopen: open }
})
