import { type Language, language, LANGUAGES, t } from '../words/words.ts';
import { kept } from './kept.ts';

/** Keeps the choice, and loads the pages again in that language. */
function choose(chosen: Language): void {
  kept.write('language', chosen);
  location.reload();
}

/** The language of the pages. */
export function LanguageChoice() {
  return (
    <label className="note">
      {t('Language')}{' '}
      <select value={language} onChange={({ target }) => choose(target.value as Language)}>
        {Object.entries(LANGUAGES).map(([value, name]) => (
          <option key={value} value={value} lang={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
