import HealthModel
import Protocol

/// Input from the bus: whatever is accepted can be written back unchanged, whichever type it is read as.
enum CBORFuzzing {
    static func run(_ bytes: [UInt8]) throws {
        try delivery(bytes)
        try message(bytes)
        guard let value = decoded(bytes) else { return }
        let written = CBOREncoder.encode(value)
        guard let again = decoded(written) else { throw BrokenRule(description: "a written document can't be read") }
        try hold(CBOREncoder.encode(again) == written, "a value read back is written differently")
        try hold(decoded(bytes, items: 0) == nil, "a value is accepted where none is allowed")
        try json(value)
        for kind in Self.kinds { try kind(value) }
    }

    private static func decoded(_ bytes: [UInt8], items: Int = .max) -> Value? {
        try? CBORDecoder.decode(bytes, items: items)
    }

    /// Tools print messages.
    private static func json(_ value: Value) throws {
        try hold((try? Value(json: Array(value.json().utf8))) != nil, "what is printed isn't JSON")
    }

    private static func delivery(_ bytes: [UInt8]) throws {
        guard let delivery = try? SampleDelivery(body: bytes) else { return }
        let written = delivery.encoded()
        guard let again = try? SampleDelivery(body: written) else {
            throw BrokenRule(description: "a delivery that was written can't be read")
        }
        try hold(again.encoded() == written, "a delivery read back is written differently")
        try hold(again.count == delivery.count, "a delivery read back has another length")
        try rows(delivery.samples)
    }

    /// Every row of a page can be read.
    private static func rows(_ page: SamplePage) throws {
        for row in 0..<page.count {
            _ = page.types[Int(page.type[row])]
            _ = page.origins[Int(page.origin[row])].sourceName
            if !page.unit.isEmpty { _ = page.units[Int(page.unit[row])] }
            if page.metadata.count > 0 { _ = page.metadata[row] }
            if page.payload.count > 0 { _ = page.payload[row] }
        }
    }

    /// Reads the input as a header and as a body.
    private static func message(_ bytes: [UInt8]) throws {
        for frames in [[Array("heartbeat.x".utf8), bytes, bytes], [Array("x".utf8), Self.header, bytes]] {
            guard let message = try? Message(frames: frames) else { continue }
            try hold(
                (try? Message(frames: message.frames))?.frames == message.frames, "a message isn't sent on as it came")
            _ = Heartbeat(message)
        }
    }

    private static let header = Message(topic: "x", header: .init(from: "x", at: .epoch)).frames[1]

    private static let kinds: [@Sendable (Value) throws -> Void] = [
        same(Heartbeat.self), same(Hint.self), same(Observed.self), same(Release.self), same(Replay.self),
        same(Acknowledged.self), same(WantedTopics.self), same(StoreHead.self), same(AnchorVector.self),
        same(StandbyWord.self), same(IngestReceipt.self), same(PageHeader.self), same(SliceRequest.self),
        same(CompletenessQuery.self), same(QuarantinedQuery.self),
        same(TypeChoice.self),
        same(DetailedTypes.self), same(ImportReport.self), same(ChangesPage.self), same(DayPage.self),
        same(MomentsPage.self), same(CoveredPage.self), same(ZonesPage.self), same(TimelinePage.self),
        same(TypesPage.self), same(CompletenessPage.self), same(SummariesPage.self), same(DeliveryPage.self),
        same(QuarantinePage.self), same(QuarantinedPage.self), same(LettersPage.self), same(ConflictsPage.self),
        same(ImportsPage.self),
        same(FilePage.self), same(DocumentsPage.self), same(SpansPage.self), same(SamplesPage.self),
        same(SlicePage.self), same(CountedPage.self),
        { value in
            guard let part = IngestPart(value) else { return }
            try part.records.holdIndices()
            guard let again = IngestPart(part.body) else { throw BrokenRule(description: "a part can't be read again") }
            try hold(CBOREncoder.encode(again.body) == CBOREncoder.encode(part.body), "a part is written otherwise")
        },
        { value in
            guard let page = try? SamplePage(wireValue: value) else { return }
            try rows(page)
        },
    ]

    private static func same<Kind: Codable & SendableMetatype>(_: Kind.Type) -> @Sendable (Value) throws -> Void {
        { value in
            guard let thing = try? value.decode(Kind.self) else { return }
            let written = Value(thing)
            guard let again = try? written.decode(Kind.self) else {
                throw BrokenRule(description: "\(Kind.self): a written value can't be read")
            }
            try hold(
                CBOREncoder.encode(Value(again)) == CBOREncoder.encode(written),
                "\(Kind.self): a value read back is written differently")
        }
    }
}

extension RecordBatch {
    /// Every row of a part can be read; judging its content is up to the observer.
    fileprivate func holdIndices() throws {
        for row in 0..<count {
            _ = (types[Int(type[row])], units[Int(unit[row])], origins[Int(origin[row])])
            if metadata.count > 0 { _ = metadata[row] }
            if payload.count > 0 { _ = payload[row] }
        }
    }
}
