import { join } from 'node:path'
import t from 'tap'
import { CannotStart, exitCodes } from '../../../lib/exit.ts'
import { cannotOpen } from '../../../sqlite/file/open-error.ts'

const { storage, configuration } = exitCodes

t.test('each reason why a database cannot be opened is one sentence, and says whose fault it is', t => {
  const directory = t.testdir({ 'a-file': '' })
  const file = join(directory, 'afield.db')
  for (const [codes, says, exitCode] of [
    [['SQLITE_FULL', 'ENOSPC', 'EDQUOT'], /^There is no space on the disk for .*afield\.db;/, storage],
    [['SQLITE_NOTADB', 'SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX'], /afield\.db is damaged or not a database;/, configuration],
    [['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY'], /^Another program is holding .*afield\.db;/, storage],
    [['SQLITE_IOERR', 'SQLITE_IOERR_READ', 'EIO'], /afield\.db failed \((SQLITE_IOERR\w*|EIO)\); check the disk\.$/, storage],
    [['SQLITE_READONLY_ROLLBACK'], /left in the middle of a change by another program/, configuration],
    [['EROFS'], /mounted read-only/, configuration],
    [['EACCES', 'EPERM', 'SQLITE_CANTOPEN', 'SQLITE_READONLY', 'SQLITE_AUTH'], /cannot be written by this user/, configuration],
    [['ENOENT', 'ENOTDIR', 'EEXIST', 'EISDIR', 'ENAMETOOLONG', 'ELOOP'], /cannot be created \((E\w+)\); check the path/, configuration]
  ] as const) {
    for (const code of codes) {
      const error = Object.assign(new Error('of the system'), { code })
      const explained = cannotOpen(file, error)
      t.ok(explained instanceof CannotStart, code)
      t.match(explained, { message: says, exitCode, cause: error }, code)
    }
  }
  t.end()
})

t.test('a file in the place of a directory is named, however far above', t => {
  const directory = t.testdir({ 'a-file': '' })
  for (const code of ['ENOTDIR', 'EEXIST']) {
    const error = Object.assign(new Error(), { code })
    for (const below of ['afield.db', 'data/afield.db']) {
      t.match(cannotOpen(join(directory, 'a-file', below), error), {
        message: /because .*a-file is a file and not a directory; choose another with --data\.$/,
        exitCode: configuration
      })
    }
  }
  t.end()
})

t.test('any other error is left as it is', t => {
  for (const error of [new Error('a bug'), Object.assign(new Error(), { code: 'SQLITE_MISUSE' }), 'text']) {
    t.equal(cannotOpen('/data/afield.db', error), error)
  }
  t.end()
})
