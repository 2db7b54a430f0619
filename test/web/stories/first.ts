import { loadLanguage, loadLaterWords } from '../../../web/words/translations.ts'

// As in the app, the language is loaded before anything is drawn.
const params = new URLSearchParams(location.search)
await loadLanguage(params.get('language') === 'zh' ? 'zh' : 'en', document)
await loadLaterWords()
await (params.has('app') ? import('./app/page.tsx') : import('./page.tsx'))
