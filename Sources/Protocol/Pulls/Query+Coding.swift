import HealthModel

extension Query {
    private enum Name: String, Codable {
        case changes, day, moments, samples, spans, slice, zones, timeline, imports, file, delivery, types,
            completeness, sources,
            summaries, sample, quarantine, quarantined, entries, documents, document, renew, proof, letters, conflicts
    }

    private enum Member: CodingKey {
        case query, topic, days, user, day, before, from, to, types, predicate, `import`, offset, nights, sample,
            record, document, event, dropped,
            `continue`
    }

    /// The query's name in requests.
    package var name: String {
        switch self {
        case .other(let name): name
        default: known?.rawValue ?? ""
        }
    }

    private var known: Name? {
        switch self {
        case .changes: .changes
        case .day: .day
        case .moments, .newest: .moments
        case .samples: .samples
        case .spans: .spans
        case .slice: .slice
        case .zones: .zones
        case .timeline: .timeline
        case .imports: .imports
        case .file: .file
        case .delivery: .delivery
        case .types: .types
        case .completeness: .completeness
        case .sources: .sources
        case .summaries: .summaries
        case .sample: .sample
        case .quarantine: .quarantine
        case .quarantined: .quarantined
        case .entries: .entries
        case .documents: .documents
        case .document: .document
        case .renew: .renew
        case .proof: .proof
        case .letters: .letters
        case .conflicts: .conflicts
        case .other: nil
        }
    }
}

extension Query: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(name, forKey: .query)
        switch self {
        case .changes(let topic, let days):
            try members.encodeIfPresent(topic, forKey: .topic)
            try members.encodeIfPresent(days.map { [$0.lowerBound, $0.upperBound] }, forKey: .days)
        case .day(let user, let day, let topic):
            try members.encode(user, forKey: .user)
            try members.encode(day, forKey: .day)
            try members.encodeIfPresent(topic, forKey: .topic)
        case .moments(let from, let to):
            try members.encode(from, forKey: .from)
            try members.encode(to, forKey: .to)
        case .newest(let time): try members.encode(time, forKey: .before)
        case .samples(let types, let predicate):
            try members.encode(types, forKey: .types)
            try members.encodeIfPresent(predicate, forKey: .predicate)
        case .spans(let types): try members.encode(types, forKey: .types)
        case .slice(let slice): try slice.encode(to: encoder)
        case .timeline(let user), .quarantine(let user): try members.encode(user, forKey: .user)
        case .entries(let user, let event):
            try members.encode(user, forKey: .user)
            try members.encodeIfPresent(event, forKey: .event)
        case .imports(let id): try members.encodeIfPresent(id, forKey: .import)
        case .file(let id, let offset):
            try members.encode(id, forKey: .import)
            try members.encode(offset, forKey: .offset)
        case .completeness(let user, let nights, let after):
            try members.encode(user, forKey: .user)
            try members.encode(nights, forKey: .nights)
            try members.encodeIfPresent(after, forKey: .continue)
        case .sources(let user, let after):
            try members.encodeIfPresent(user, forKey: .user)
            try members.encodeIfPresent(after, forKey: .continue)
        case .summaries(let user, let from, let to):
            try members.encode(user, forKey: .user)
            try members.encode(from, forKey: .from)
            try members.encode(to, forKey: .to)
        case .sample(let id): try members.encode(id, forKey: .sample)
        case .quarantined(let selection, let user, let record, let after):
            try selection.encode(to: encoder)
            try members.encodeIfPresent(user, forKey: .user)
            try members.encodeIfPresent(record, forKey: .record)
            try members.encodeIfPresent(after, forKey: .continue)
        case .documents(let user, let after):
            try members.encodeIfPresent(user, forKey: .user)
            try members.encodeIfPresent(after, forKey: .continue)
        case .document(let number, let offset):
            try members.encode(number, forKey: .document)
            try members.encode(offset, forKey: .offset)
        case .letters(let selection, let dropped, let after):
            try selection.encode(to: encoder)
            try members.encodeIfPresent(dropped, forKey: .dropped)
            try members.encodeIfPresent(after, forKey: .continue)
        case .renew(let renewal): try renewal.encode(to: encoder)
        case .conflicts(let after), .proof(let after): try members.encodeIfPresent(after, forKey: .continue)
        case .zones, .delivery, .types, .other: break
        }
    }
}

extension Query: Decodable {
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        let name = try? members.decode(String.self, forKey: .query)
        guard let known = name.flatMap(Name.init(rawValue:)) else {
            self = .other(name ?? "")
            return
        }
        do { try self.init(known, members, decoder) } catch is DecodingError {
            throw PullRefusal("a '\(known.rawValue)' request needs \(Self.needs(known))")
        }
    }

    private init(_ name: Name, _ members: KeyedDecodingContainer<Member>, _ decoder: any Decoder) throws {
        func read<Thing: Decodable>(_ key: Member) throws -> Thing { try members.decode(Thing.self, forKey: key) }
        // An optional member that is invalid counts as left out.
        func optional<Thing: Decodable>(_ key: Member) -> Thing? { try? members.decode(Thing.self, forKey: key) }
        switch name {
        case .changes: self = .changes(topic: optional(.topic), days: try Self.days(optional(.days)))
        case .day: self = .day(user: try read(.user), day: try read(.day), topic: optional(.topic))
        case .moments:
            if let time: Instant = optional(.before) {
                self = .newest(before: time)
            } else {
                self = .moments(from: try read(.from), to: try read(.to))
            }
        case .samples: self = .samples(try read(.types), predicate: optional(.predicate))
        case .spans: self = .spans(try read(.types))
        case .slice: self = .slice(try SliceRequest(from: decoder))
        case .zones: self = .zones
        case .timeline: self = .timeline(user: try read(.user))
        case .imports: self = .imports(id: optional(.import))
        case .file: self = .file(id: optional(.import) ?? "", offset: try read(.offset))
        case .delivery: self = .delivery
        case .types: self = .types
        case .completeness:
            self = .completeness(user: optional(.user), nights: optional(.nights) ?? [:], after: optional(.continue))
        case .sources: self = .sources(user: optional(.user), after: optional(.continue))
        case .summaries: self = .summaries(user: try read(.user), from: try read(.from), to: try read(.to))
        case .sample: self = .sample(try read(.sample))
        case .quarantine: self = .quarantine(user: try read(.user))
        case .quarantined:
            self = .quarantined(
                try MendSelection(from: decoder), user: optional(.user), record: optional(.record),
                after: optional(.continue))
        case .entries: self = .entries(user: try read(.user), event: optional(.event))
        case .documents: self = .documents(user: optional(.user), after: optional(.continue))
        case .document: self = .document(try read(.document), offset: try read(.offset))
        case .letters:
            self = .letters(
                try MendSelection(from: decoder), dropped: optional(.dropped), after: optional(.continue))
        case .conflicts: self = .conflicts(after: optional(.continue))
        case .proof: self = .proof(after: optional(.continue))
        case .renew: self = .renew(try Renewal(from: decoder))
        }
    }

    private static func days(_ ends: [Int]?) throws -> ClosedRange<Int>? {
        guard let first = ends?.first, let last = ends?.last else { return nil }
        guard first <= last else { throw PullRefusal("'days' ends before it begins") }
        return first...last
    }

    /// The members that a request with this name must have.
    private static func needs(_ name: Name) -> String {
        switch name {
        case .day: "'user' and 'day'"
        case .moments: "'before', or 'from' and 'to'"
        case .samples, .spans: "'after', 'until' and 'types'"
        case .slice: "'user', 'types', 'from', 'to' and 'asOf'"
        case .timeline, .quarantine, .entries: "'user'"
        case .file: "'offset'"
        case .document: "'document' and 'offset'"
        case .summaries: "'user', 'from' and 'to'"
        case .renew: "'above' and 'rows'"
        case .sample: "'sample': an id of this store, or a HealthKit UUID"
        default: "other members"
        }
    }
}

extension TypeChoice: Codable {
    private enum Kind: CodingKey { case include, exclude }

    package init(from decoder: any Decoder) throws {
        let kind = try decoder.container(keyedBy: Kind.self)
        if let types = try? kind.decode([String].self, forKey: .include) {
            self = .only(types)
        } else {
            self = .allExcept(try kind.decode([String].self, forKey: .exclude))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var kind = encoder.container(keyedBy: Kind.self)
        switch self {
        case .only(let types): try kind.encode(types, forKey: .include)
        case .allExcept(let types): try kind.encode(types, forKey: .exclude)
        }
    }
}

extension DetailedTypes: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let choice = try? container.decode(TypeChoice.self) {
            self = .choice(choice)
        } else {
            self = .list(try container.decode([String].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .list(let types): try types.encode(to: encoder)
        case .choice(let choice): try choice.encode(to: encoder)
        }
    }
}
