import { join } from 'node:path'
import { readMigrations } from '../../lib/store/migrate.ts'
import { openDatabase } from '../../sqlite/file/database.ts'

// Brings a database up to date, in a process that a test kills on its way.
const data = process.argv[2] ?? ''
const { close } = await openDatabase(join(data, 'afield.db'), {
  dataDirectory: data,
  migrations: readMigrations('sqlite/'),
  clock: () => 1
})
close()
