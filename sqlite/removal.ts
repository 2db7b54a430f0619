import type { AccountId } from '../lib/protocol/wire/ids.ts'
import type { RemovableRef, Store } from '../lib/store/store.ts'
import { accountClock } from './clock.ts'
import type { Deps } from './deps.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const sessionKey = `(SELECT key FROM session WHERE account = ${accountKey} AND id = ?)`

export function removal({ database, queue }: Deps): Pick<Store, 'remove'> {
  const removeFrom = (table: 'message' | 'session_cells' | 'access_key' | 'usage_report') =>
    database.prepare<[AccountId, AccountId, string]>(`DELETE FROM ${table} WHERE account = ${accountKey} AND session = ${sessionKey}`)
  const removeMessages = removeFrom('message')
  const removeCells = removeFrom('session_cells')
  const removeSessionKeys = removeFrom('access_key')
  const removeUsage = removeFrom('usage_report')
  const leaveAttachments = database.prepare<[AccountId, AccountId, string]>(
    `UPDATE attachment SET session = 0, ends_at = 0 WHERE account = ${accountKey} AND session = ${sessionKey}`
  )
  const removeMachineKeys = database.prepare<[AccountId, AccountId, string]>(
    `DELETE FROM access_key WHERE account = ${accountKey} AND machine = (SELECT key FROM machine WHERE account = ${accountKey} AND id = ?)`
  )
  const removeArtifact = database.prepare<[AccountId, string]>(`DELETE FROM artifact WHERE account = ${accountKey} AND id = ?`)
  const removeSession = database.prepare<[AccountId, string]>(`DELETE FROM session WHERE account = ${accountKey} AND id = ?`)
  const removeMachine = database.prepare<[AccountId, string]>(`DELETE FROM machine WHERE account = ${accountKey} AND id = ?`)
  const clock = accountClock(database)

  function removeRow(account: AccountId, { of, id }: RemovableRef): number {
    switch (of) {
      case 'artifact':
        return removeArtifact.run(account, id).changes
      case 'machine':
        removeMachineKeys.run(account, account, id)
        return removeMachine.run(account, id).changes
      case 'session':
        for (const what of [removeMessages, removeCells, removeSessionKeys, removeUsage, leaveAttachments]) what.run(account, account, id)
        return removeSession.run(account, id).changes
    }
  }

  return {
    remove: (account, row) => queue.write(() => (removeRow(account, row) > 0 ? { clock: clock.move(account, 1) } : 'missing'))
  }
}
