import type { askForAccount as realAskForAccount } from '../../../../web/join/account-request.ts'
import { shown } from './app-story.ts'

// Stands in for a new device that requests an account.
export const askForAccount: typeof realAskForAccount = async ({ forHappy, onTrouble }) => {
  const { request } = shown()
  if (request === 'unreachable') throw new Error('There is no server.')
  if (request === 'trouble') onTrouble(true)
  return {
    link: `${location.origin}/pair#device=mqhE2xQ8yTf7pZrN0aLwKdVbJcUsGi1o3Xl5Yk9HtA4`,
    checkCode: forHappy ? undefined : '4812',
    wait: () => (request === undefined || request === 'trouble' ? new Promise(() => {}) : Promise.resolve(request))
  }
}
