import { lockDirectory } from '../../sqlite/file/lock.ts'

// A process that locks the directory it is given and waits to be killed.
lockDirectory(process.argv[2] ?? '')
console.log('locked')
setInterval(() => {}, 60_000)
