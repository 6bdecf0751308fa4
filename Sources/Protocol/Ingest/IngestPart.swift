import HealthModel

/// A part of a pushed request on its way to the observer, on `ingest.<observer>`. Parts go one at a time: each is
/// repeated until it is answered, and only then is the next one sent.
package struct IngestPart: Sendable {
    /// The id of the request, chosen by the sender. After a `beginAgain` the request is sent again under a different
    /// id.
    package var id: String
    /// Starting from 0.
    package var number: Int64
    package var user: String
    /// The sender: its device's name in its token.
    package var device: String
    /// The path on which it came in, as named in the quarantine: "/v1/samples".
    package var way: String
    /// Whether no part follows this one, so that anything kept in order to distinguish samples of different parts can
    /// be discarded.
    package var isLast = false
    /// `line` is the item's number in the request.
    package var records = RecordBatch()
    /// HealthKit UUIDs of deleted samples.
    package var deleted: [SampleID] = []
    /// Those of `deleted` that stand for all samples of a food or of a blood pressure.
    package var deletedWholes: [SampleID] = []
    /// Items that couldn't be understood.
    package var quarantined: [QuarantinedInput] = []
    /// Another stack's changes, in place of records and deletions. The observer accepts them only from an instance
    /// configured to follow.
    package var following: Following?

    /// A page of another stack's changes, and how far it reaches.
    package struct Following: Sendable, Equatable {
        /// The cursor up to which everything has been taken in once this part is stored; empty if further parts
        /// follow. If it is nil, the part just asks for the current cursor.
        package var cursor: String?
        /// As in `ChangesAnswer`.
        package var zones = Value.null
        package var characteristics = Value.null
        /// Whether the page answers a request that started from the beginning, so that everything is copied again.
        package var begins = false
        /// Whether the other stack had nothing more at the end of this page.
        package var isEnd = false
        /// Whether the other stack can be followed at present; nil if that isn't known yet.
        package var answers: Bool?

        package init(cursor: String? = nil) { self.cursor = cursor }

        fileprivate var body: Value {
            var members: [String: Value] = [
                "cursor": cursor.map { .string($0) } ?? .null, "zones": zones, "characteristics": characteristics,
            ]
            if begins { members["begins"] = true }
            if isEnd { members["end"] = true }
            if let answers { members["answers"] = .bool(answers) }
            return .object(members)
        }

        fileprivate init?(_ body: Value) {
            guard body.object != nil else { return nil }
            cursor = body["cursor"].string
            zones = body["zones"]
            characteristics = body["characteristics"]
            begins = body["begins"].bool ?? false
            isEnd = body["end"].bool ?? false
            answers = body["answers"].bool
        }
    }

    /// The samples of `following`, with the ids that they have in the other stack.
    package var followed = SamplePage()
    /// What a person wants done with their own event or type; such a part contains nothing else.
    package var own: OwnRequest?

    package init(id: String, number: Int64, user: String, device: String, way: String) {
        (self.id, self.number, self.user, self.device, self.way) = (id, number, user, device, way)
    }

    package static func topic(_ observer: String) -> String { "ingest.\(observer)" }

    /// The members of a part other than its columns.
    private struct Head: Codable {
        var id: String
        var part: Int64
        var user: String
        var device: String
        var way: String
        @IfReadable var last: Bool?
        @IfAny var quarantined: [Refused]
        @IfReadable var own: OwnRequest?
    }

    private struct Refused: Codable {
        var item: Int64
        var reason: String
        var raw: String
    }

    package var body: Value {
        let head = Head(
            id: id, part: number, user: user, device: device, way: way, last: isLast ? true : nil,
            quarantined: quarantined.map { Refused(item: $0.line, reason: $0.reason, raw: $0.raw) }, own: own)
        var members = Value(head).object ?? [:]
        if records.count > 0 { members["records"] = records.wireValue }
        if !deleted.isEmpty { members["deleted"] = .bytes(SamplePage.idBytes(deleted)) }
        if !deletedWholes.isEmpty { members["wholes"] = .bytes(SamplePage.idBytes(deletedWholes)) }
        if let following {
            members["following"] = following.body
            if !followed.isEmpty { members["followed"] = followed.wireValue }
        }
        return .object(members)
    }

    /// nil for anything that isn't a part, or whose columns don't fit together.
    package init?(_ body: Value) {
        guard let head = body.read(Head.self), head.part >= 0 else { return nil }
        self.init(id: head.id, number: head.part, user: head.user, device: head.device, way: head.way)
        isLast = head.last ?? false
        own = head.own
        quarantined = head.quarantined.map { QuarantinedInput(line: $0.item, reason: $0.reason, raw: $0.raw) }
        do throws(PageError) {
            if !body["records"].isNull { records = try RecordBatch(wireValue: body["records"]) }
            if !body["deleted"].isNull { deleted = try SamplePage.ids(try body.column("deleted", \.bytes)) }
            if !body["wholes"].isNull { deletedWholes = try SamplePage.ids(try body.column("wholes", \.bytes)) }
            following = Following(body["following"])
            if !body["followed"].isNull { followed = try SamplePage(wireValue: body["followed"]) }
        } catch { return nil }
    }
}

/// The observer's answer to a part, on `ingested.<sender>`: sent once everything in it is durable.
package struct IngestReceipt: Codable, Sendable, Equatable {
    package var id: String
    package var part: Int64
    /// For each row of the part's records, then for each deletion: the number of a `RecordOutcome`.
    package var outcomes: [UInt8]
    /// For each quarantined row, the reason.
    @IfAny package var reasons: [Reason]
    /// Items of the part's `quarantined` that a person has dropped: they are refused like deleted samples.
    @IfAny package var dropped: [Int64] = []
    /// Whether the whole request must be sent again, since the observer has restarted and doesn't know its earlier
    /// parts.
    @IfReadable package var beginAgain: Bool?
    /// Why nothing in the part was accepted, if nothing was.
    @IfReadable package var refused: String?
    /// When following another stack: the cursor up to which everything has been taken in; empty if nothing has.
    @IfReadable package var cursor: String?
    /// Whether the end of the other stack's changes hasn't been reached yet, or hasn't been reached again since the
    /// other stack began a different history.
    @IfReadable package var copying: Bool?
    /// The outcome of the part's `own`.
    @IfReadable package var own: OwnAnswer? = nil

    package struct Reason: Codable, Sendable, Equatable {
        package var row: Int64
        package var text: String

        package init(row: Int64, text: String) { (self.row, self.text) = (row, text) }
    }

    package init(
        id: String, part: Int64, outcomes: [UInt8] = [], reasons: [Reason] = [], beginAgain: Bool? = nil,
        refused: String? = nil, cursor: String? = nil, copying: Bool? = nil
    ) {
        (self.id, self.part, self.outcomes, self.reasons, self.beginAgain) = (id, part, outcomes, reasons, beginAgain)
        (self.refused, self.cursor, self.copying) = (refused, cursor, copying)
    }

    package static func topic(_ sender: String) -> String { "ingested.\(sender)" }
}
