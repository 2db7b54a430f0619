import { speakAs, speakLater } from '../../../web/words/spoken.ts'

// As in the app the language comes before everything that is drawn in it.
const params = new URLSearchParams(location.search)
await speakAs(params.get('language') === 'zh' ? 'zh' : 'en', document)
await speakLater()
await (params.has('app') ? import('./app/page.tsx') : import('./page.tsx'))
