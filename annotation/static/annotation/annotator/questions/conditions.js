// Which questions are asked and answered, and what is sent. Pure: independent of the page.
//
//   isAsked(questions, answers, question, "s1") · answerOf(payload, { answers, places })
//
// `answers` has a value for each question by its name; for a question about each stimulus, a value by stimulus.

export function valueOf(answers, question, ref) {
  const value = answers[question.name];
  return question.each ? value?.[ref] : value;
}

// The unit of an answer: the question, or the question about one stimulus.
export function partsOf(question, stimuli) {
  return question.each ? stimuli.map(({ ref }) => ref) : [""];
}

export function isAsked(questions, answers, question, ref) {
  if (!question.when) return true;
  const earlier = questions.find(({ name }) => name === question.when.question);
  if (!isAsked(questions, answers, earlier, ref)) return false;
  return codesOf(valueOf(answers, earlier, ref)).some((code) => question.when.answers.includes(code));
}

function isAnswered(question, value, stimuli) {
  if (value === undefined || value === null) return false;
  if (question.type === "text") return value.trim() !== "";
  if (question.type === "choice" && question.several) return value.length > 0;
  if (question.type === "span") return value.length > 0 || question.none !== null;
  if (question.type === "rank") return stimuli.every(({ ref }) => ref in value);
  return true;
}

export function isPlaceAsked(question, value, stimuli) {
  const { region } = question;
  if (!region || !isAnswered(question, value, stimuli)) return false;
  return region.after.length === 0 || codesOf(value).some((code) => region.after.includes(code));
}

// An incomplete ranking is not an answer, and it is an error even if the question is optional.
export function isBegun(question, value) {
  return question.type === "rank" && Object.keys(value ?? {}).length > 0;
}

// The questions asked now, in order: {question, ref, value, answered}.
export function askedParts({ questions, stimuli }, answers) {
  return questions.flatMap((question) =>
    partsOf(question, stimuli)
      .filter((ref) => isAsked(questions, answers, question, ref))
      .map((ref) => {
        const value = valueOf(answers, question, ref);
        return { question, ref, value, answered: isAnswered(question, value, stimuli) };
      }),
  );
}

// The answer in the format of the API, without questions that are not asked.
export function answerOf(payload, { answers, places }) {
  const sent = { answers: {}, regions: {} };
  for (const { question, ref, value, answered } of askedParts(payload, answers)) {
    if (!answered) continue;
    const final = question.type === "rank" ? competitionRanks(value) : value;
    if (question.each) (sent.answers[question.name] ??= {})[ref] = final;
    else sent.answers[question.name] = final;
    if (!isPlaceAsked(question, value, payload.stimuli)) continue;
    const own = places.filter((place) => place.question === question.name && (!ref || place.stimulus === ref));
    if (own.length) (sent.regions[question.name] ??= []).push(...own.map(withoutIds));
  }
  return sent;
}

// An earlier answer, in the format of the screen.
export function givenAnswer({ answers, regions }) {
  const places = Object.entries(regions ?? {}).flatMap(([question, given]) => given.map((place) => ({ question, ...place })));
  return { answers, places };
}

// 1, 1, 3: items that share a place also use up the following places.
function competitionRanks(places) {
  const all = Object.values(places);
  return Object.fromEntries(
    Object.entries(places).map(([ref, place]) => [ref, 1 + all.filter((other) => other < place).length]),
  );
}

function codesOf(value) {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function withoutIds({ id: _id, question: _question, ...place }) {
  return place;
}
