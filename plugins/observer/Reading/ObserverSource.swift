import BackgroundDelivery
import Changelog
import HealthModel
import HealthStore
import Protocol
import SQLite
import StageKit

/// What the observer answers, one method for each query; `answers` lists them.
package final class ObserverSource: PullSource {
    package static let answers: [QueryAnswer<ObserverSource>] =
        [
            .by(ObserverSource.samples), .by(ObserverSource.spans), .by(ObserverSource.slice),
            .by(ObserverSource.zones), .by(ObserverSource.timeline), .by(ObserverSource.imports),
            .by(ObserverSource.types), .by(ObserverSource.sample), .by(ObserverSource.delivery),
            .by(ObserverSource.complete), .by(ObserverSource.sources), .by(ObserverSource.summaries),
            .by(ObserverSource.quarantine), .by(ObserverSource.quarantined), .by(ObserverSource.entries),
            .by(ObserverSource.documents), .by(ObserverSource.document),
        ] + ChangelogSource.answers.map { $0.through { ChangelogSource(database: $0.database) } }

    let database: Database
    let store: HealthStoreReader
    let completeness: CompletenessReader
    /// What one answer about completeness may cost.
    let budget: CompletenessReader.Budget
    let access: ReadAccess

    /// The maximum number of parts in one slice's answer: well within every socket's high-water mark. A longer slice
    /// continues in another request.
    static let partsPerSlice = 24
    private static let pagesPerRequest = ChangelogSource.pagesPerRequest
    private let limits: PullLimits

    /// - Parameters:
    ///   - isShared: whether others are waiting for answers at the same time, so that long work must be requested in
    ///     steps.
    ///   - limits: of a page of samples.
    package init(
        database: Database, isShared: Bool = true,
        limits: PullLimits = PullLimits(rows: 4096, bytes: 56 * 1024, scanned: 50_000)
    ) throws {
        (self.database, self.limits) = (database, limits)
        store = try HealthStoreReader(database: database)
        completeness = try CompletenessReader(store)
        budget = isShared ? .step : .unlimited
        access = try ReadAccess(database)
    }

    /// Creates the tables that this reads, if they are missing; an earlier release's file is updated.
    package static func createTables(in database: Database) throws {
        try HealthStoreSchema.create(in: database)
        try ImportTables.createTables(in: database)
        try ZoneTables.create(in: database)
        try CharacteristicsTable.createTables(in: database)
        try OwnTables.create(in: database)
        try DeliveryTable.createTables(in: database)
        try LeftOutTable.table.create(in: database)
    }

    private func samples(_ query: SamplesQuery, _ asking: Asking, _ page: (SamplesPage, Bool) -> Void) throws {
        let predicate = try query.predicate.flatMap { try SamplePredicate($0) }
        let rules = LeftOutRules(try LeftOutTable.entries(in: database))
        try windowed(query.types, asking, page) { filter, window in
            let found = try store.anchored(filter, window, limits: limits)
            let page = rules.mark(SamplesPage(samples: found.samples, users: found.users, user: found.user))
            let chosen = try predicate.map { page.keeping(try $0.filter(page.samples)) }
            return (found.covered, found.isComplete, chosen ?? page)
        }
    }

    private func spans(_ query: SpansQuery, _ asking: Asking, _ page: (SpansPage, Bool) -> Void) throws {
        try windowed(query.types, asking, page) { filter, window in
            let found = try store.spans(filter, window, limits: PullLimits(rows: 2000, bytes: .max, scanned: 100_000))
            return (found.covered, found.isComplete, try Self.columns(found, database, window))
        }
    }

    private func zones(_: ZonesQuery, _ asking: Asking, _ page: (ZonesPage, Bool) -> Void) throws {
        guard let after = asking.place.after, let until = asking.place.until else {
            throw PullRefusal("a 'zones' request needs 'after' and 'until'")
        }
        let through = min(until.base, asking.head.sequence)
        page(
            ZonesPage(
                zones: try ZoneTables.timelines(in: database, after: after.base, through: through, users: []),
                from: after.base, through: max(through, after.base)), true)
    }

    private func timeline(_ query: TimelineQuery, _: Asking, _ page: (TimelinePage, Bool) -> Void) throws {
        page(
            TimelinePage(
                user: query.user, timeline: try ZoneTables.parts(of: query.user, in: database),
                users: try ZoneTables.users(in: database)), true)
    }

    private func delivery(_: DeliveryQuery, _: Asking, _ page: (DeliveryPage, Bool) -> Void) throws {
        page(
            DeliveryPage(
                device: try DeliveryTable.table.value("device", in: database)?.read() ?? DeviceState(),
                registrations: try DeliveryTable.table.value("registrations", in: database)?.read()
                    ?? KeptRegistrations()), true)
    }

    private func imports(_ query: ImportsQuery, _: Asking, _ page: (ImportsPage, Bool) -> Void) throws {
        let id = query.import
        let devices = try store.devices().map { PushingDevice(user: $0.user, device: $0.device, ways: $0.ways) }
        page(
            ImportsPage(
                imports: try ImportTables.answer(id: id, in: database), devices: id == nil ? devices : nil,
                doubles: id == nil ? try ImportTables.foundDoubles(in: database) : nil), true)
    }

    /// Passes on pages of a window, oldest change first.
    private func windowed<Content: WindowedPage>(
        _ types: TypeChoice, _ asking: Asking, _ page: (Content, Bool) -> Void,
        _ read: (TypeFilter, PullWindow) throws -> (covered: SequenceNumber, isComplete: Bool, content: Content)
    ) throws {
        let (place, head) = (asking.place, asking.head)
        try access.refresh(readsSamples: true, for: asking.consumer)
        guard var after = place.after, let until = place.until else {
            throw PullRefusal("the request needs 'after' and 'until'")
        }
        let types = TypeFilter.Types(types)
        // A read from the beginning, or of a skipped range: nothing that a person needs to be notified about.
        let isBulk = place.bulk == true || (place.store == nil && after.minimum < head.first)
        let firstReads = try FirstReads(database)
        for index in 1...Self.pagesPerRequest {
            let found = try read(TypeFilter(types: access.allowed(types)), Self.window(after, until, head))
            let from = after.minimum
            // A complete walk has covered the whole window, even beyond its last row.
            let through = found.isComplete ? max(until.maximum, after.maximum) : found.covered
            let reached = min(through, max(head.sequence, after.maximum))
            let isOld = isBulk || firstReads.touches(after: from, through: reached)
            let last = found.isComplete || index == Self.pagesPerRequest
            page(found.content.covering(from: from, through: reached, bulk: isOld ? true : nil), last)
            if last { return }
            after = after.advanced(to: through, within: until)
        }
    }

    private static func window(_ after: AnchorVector, _ until: AnchorVector, _ head: StoreHead) -> PullWindow {
        func window(_ from: SequenceNumber, _ to: SequenceNumber) -> SequenceWindow {
            SequenceWindow(after: from, through: max(from, min(to, head.sequence)))
        }
        let names = Set(after.exceptions.keys).union(until.exceptions.keys)
        return PullWindow(
            window(after.base, until.base),
            exceptions: Dictionary(uniqueKeysWithValues: names.map { ($0, window(after[$0], until[$0])) }))
    }

    private static func columns(
        _ page: SpanPage, _ database: Database, _ window: PullWindow
    ) throws -> SpansPage {
        let (spans, covered) = (page.spans, page.covered)
        let users = Array(Set(spans.map(\.user))).sorted()
        let index = Dictionary(uniqueKeysWithValues: users.enumerated().map { ($1, Int32($0)) })
        return SpansPage(
            users: users, user: spans.map { index[$0.user] ?? 0 }, start: spans.map(\.start.microseconds),
            end: spans.map(\.end.microseconds),
            zones: try ZoneTables.timelines(
                in: database, after: window.base.after, through: covered, users: Set(users)),
            characteristics: try CharacteristicsTable.read(
                database, after: window.base.after, through: covered, users: Set(users)),
            added: page.added, deleted: page.deleted)
    }

    private func slice(_ request: SliceRequest, _ asking: Asking, _ page: (SliceRequest.Answer, Bool) -> Void) throws {
        try access.refresh(readsSamples: true, for: asking.consumer)
        guard request.from <= request.to else {
            throw PullRefusal("a 'slice' request needs 'from' before 'to'")
        }
        let types = TypeFilter.Types(request.types)
        let predicate = try request.predicate.flatMap { try SamplePredicate($0) }
        let detailed: TypeFilter.Types =
            switch request.detailed {
            case .list(let names)?: .only(Set(names))
            case .choice(let choice)?: .init(choice)
            case nil: .only([])
            }
        var query = SliceQuery(
            user: request.user, types: types, ranges: [request.from..<request.to],
            asOf: request.asOf.base, detailed: detailed)
        query.asOfByType = request.asOf.exceptions
        query.payloads = Set(request.payloads ?? [])
        query.during = request.during ?? [:]
        query = access.allowed(query)
        let rules = LeftOutRules(try LeftOutTable.entries(in: database))
        // Read only to decide: such payloads weren't requested, and aren't sent.
        let readsMore =
            predicate?.needsPayload == true && !query.fillsPayload(of: HealthType.workoutIdentifier)
        if readsMore { query.payloads.insert(HealthType.workoutIdentifier) }
        var position = request.continue.flatMap { place in
            SampleID(place.id).map { SlicePosition(start: place.start, id: $0) }
        }
        for part in 1...Self.partsPerSlice {
            let found = try store.slice(query, after: position, limits: limits)
            position = found.next
            var samples = rules.filter(found.samples, of: request.user)
            if let predicate { samples = samples.keeping(try predicate.filter(samples)) }
            // Only workouts are left, and no details of workouts were requested.
            if readsMore { samples.dropDetails() }
            let last = position == nil || part == Self.partsPerSlice
            let rest = last ? position.map { SlicePlace(start: $0.start, id: $0.id.description) } : nil
            page(SlicePage(samples: samples, continue: rest), last)
            if last { return }
        }
    }

    private func types(_: TypesQuery, _ asking: Asking, _ page: (TypesPage, Bool) -> Void) throws {
        try access.refresh(readsSamples: false, for: asking.consumer)
        let types = try store.heads().filter { access.allows($0.type) }.map { head in
            TypeRow(
                user: head.user, type: head.type, sequence: head.sequence, alive: Int(head.alive),
                deleted: Int(head.deleted), quarantined: Int(head.quarantined), firstStart: head.firstStart,
                lastStart: head.lastStart, lastEnd: head.lastEnd)
        }
        page(TypesPage(types: types, quarantined: Int64(try store.quarantineCount())), true)
    }
}

/// A page of a window, made before it is known what the page covers.
private protocol WindowedPage: PageContent {
    func covering(from: SequenceNumber, through: SequenceNumber, bulk: Bool?) -> Self
}

extension SamplesPage: WindowedPage {
    fileprivate func covering(from: SequenceNumber, through: SequenceNumber, bulk: Bool?) -> Self {
        var page = self
        (page.from, page.through, page.bulk) = (from, through, bulk)
        return page
    }
}

extension SpansPage: WindowedPage {
    fileprivate func covering(from: SequenceNumber, through: SequenceNumber, bulk: Bool?) -> Self {
        var page = self
        (page.from, page.through, page.bulk) = (from, through, bulk)
        return page
    }
}

extension TypeFilter.Types {
    fileprivate init(_ choice: TypeChoice) {
        switch choice {
        case .only(let types): self = .only(Set(types))
        case .allExcept(let types): self = .allExcept(Set(types))
        }
    }
}

extension SamplePage {
    /// As a page of which no details were requested.
    fileprivate mutating func dropDetails() {
        (created, healthKitUUID) = ([], [])
        (metadata, payload) = (TextColumn(), TextColumn())
    }
}
