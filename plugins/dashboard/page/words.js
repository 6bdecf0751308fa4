// The page's own words. Each language is one file in words/: to add one, write the file and add it to LANGUAGES.

const LANGUAGES = { en: 'English', de: 'Deutsch' };
const wanted = [localStorage.getItem('language'), ...navigator.languages].map((name) => name?.split('-')[0]);

export const language = wanted.find((name) => name in LANGUAGES) ?? 'en';
/** For numbers and dates: the browser's own region if its language is the page's. */
export const locale = navigator.languages.find((name) => name.split('-')[0] === language) ?? language;
export const languages = Object.entries(LANGUAGES);

const { words } = await import(`./words/${language}.js`);
const plural = new Intl.PluralRules(locale);

/** A word or a sentence, with {parts} filled in; if it has several forms, the one that `count` needs. Undefined if there is none. */
export function word(key, parts = {}) {
  let text = words[key];
  if (typeof text === 'object') text = text[plural.select(parts.count)] ?? text.other;
  return text?.replace(/\{(\w+)\}/g, (_, name) => parts[name] ?? '');
}

export const t = (key, parts) => word(key, parts) ?? key;
