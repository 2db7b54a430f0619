import { startLock } from './state/lock.ts'
import { chosenLanguage, startPreferences } from './state/preferences.ts'
import { languageFor, speakAs } from './words/language.ts'

// The lock and the language come before everything that is drawn in it. The page has the browser fetch the rest meanwhile.
startPreferences()
startLock()
void speakAs(languageFor(chosenLanguage(), navigator.languages), document).then(() => import('./main.tsx'))
