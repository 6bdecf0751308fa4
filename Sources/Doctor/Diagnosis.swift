import Configuration

/// What is wrong with a running stack, by the rules that are asked. Pure.
package struct Diagnosis {
    let seen: Examination
    /// By name, the instances that were heard from lately.
    let heard: [String: HeardInstance]
    private let rules: [Rule]

    package static func findings(_ seen: Examination, by rules: [Rule] = Rule.all) -> Findings {
        Diagnosis(seen, rules).findings
    }

    private init(_ seen: Examination, _ rules: [Rule]) {
        (self.seen, self.rules) = (seen, rules)
        heard = Dictionary(
            seen.stack.instances.compactMap { HeardInstance($0, in: seen) }.map { ($0.name, $0) },
            uniquingKeysWith: { $1 })
    }

    private var findings: Findings {
        let found = ask(.configuration) + (ask(.disk) + stack).folded() + ask(.surroundings)
        // A busy machine may be why something is slow, but isn't a problem in itself.
        let isIll = found.contains { $0.severity > .note }
        return Findings(isIll ? found + ask(.load) : found)
    }

    private var stack: [Finding] {
        if seen.held.isEmpty, !seen.stack.bus.isRemote { return ask(.stopped) + ask(.stores) }
        if seen.beats.isEmpty { return ask(.silent) }
        return ask(.processes) + ask(.stores) + seen.stack.instances.flatMap { ask($0) } + ask(.together)
    }

    private func ask(_ part: Rule.Part) -> [Finding] {
        rules.flatMap { rule -> [Finding] in
            guard case .stack(part, let find) = rule.look else { return [] }
            return find(self)
        }
    }

    private func ask(_ instance: StackConfiguration.Instance) -> [Finding] {
        let heard = heard[instance.name]
        return rules.flatMap { rule -> [Finding] in
            switch rule.look {
            case .stack: []
            case .absent(let find): heard == nil ? [find(self, instance.name)] : []
            case .heard(let find): heard.map(find) ?? []
            }
        }
    }
}
