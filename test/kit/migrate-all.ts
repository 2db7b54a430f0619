import { join } from 'node:path'
import { readMigrations } from '../../lib/store/migrate.ts'
import { openDatabase } from '../../sqlite/file/database.ts'

// Migrates a database, in a process that a test kills meanwhile.
const data = process.argv[2] ?? ''
const { close } = await openDatabase(join(data, 'afield.db'), {
  dataDirectory: data,
  migrations: readMigrations('sqlite/'),
  clock: () => 1
})
close()
