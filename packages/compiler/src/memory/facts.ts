/** What follows from one object, or from two, and nothing else, is worked out once for as long as there is the object. */

/** Makes a memory of what follows from one object. */
export function createFacts<Of extends object, Fact extends object>(): (of: Of, find: () => Fact) => Fact {
  const facts = new WeakMap<Of, Fact>();
  return (of, find) => {
    const fact = facts.get(of) ?? find();
    facts.set(of, fact);
    return fact;
  };
}

/** Makes a memory of what follows from two. */
export function createFactsOfTwo<Of extends object, And extends object, Fact extends object>(): (
  of: Of,
  and: And,
  find: () => Fact,
) => Fact {
  const facts = createFacts<Of, ReturnType<typeof createFacts<And, Fact>>>();
  return (of, and, find) => facts(of, () => createFacts<And, Fact>())(and, find);
}
