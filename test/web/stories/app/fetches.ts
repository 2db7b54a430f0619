import type { AppStory } from './app-story.ts'

/** Answers requests that the app makes without a link, as the story says: for the time, and to sign in. */
export function answerFetches({ clockOffMs = 0, says, signIn }: AppStory): void {
  const real = globalThis.fetch
  globalThis.fetch = async (asked, how) => {
    const { pathname } = new URL(asked instanceof Request ? asked.url : asked, location.href)
    if (how?.method === 'HEAD') return new Response(undefined, { headers: { date: new Date(Date.now() - clockOffMs).toUTCString() } })
    if (pathname === '/health') return Response.json({ status: 'ok', version: '0.1.0', ...says })
    if (signIn !== undefined && /^\/v[12]\/auth/.test(pathname))
      return Response.json({ error: signIn.error }, { status: signIn.status, headers: { 'retry-after': '240' } })
    return real(asked, how)
  }
}
