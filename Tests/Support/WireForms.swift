import HealthModel
import Protocol

extension Pull {
    /// The request's members in their wire form.
    package var query: [String: Value] { question.members }

    package init(id: Int64, producer: String, query: any Query = ChangesQuery.changes()) {
        self.init(id: id, producer: producer, question: Question(query))
    }
}

extension ChangedRow {
    package var wireValue: Value { Value(self) }

    package init?(wireValue value: Value) {
        guard let row = value.read(ChangedRow.self) else { return nil }
        self = row
    }
}

extension RepairRequest {
    /// With members in their wire form.
    package init(id: String, action: String, _ members: [String: Value]) {
        let whole = members.merging(Value(RepairRequest(id: id, action: action)).object ?? [:]) { $1 }
        self = Value.object(whole).read() ?? RepairRequest(id: id, action: action)
    }

    package var members: Value { .object(body) }
}

extension RepairSelection {
    package var members: [String: Value] { Value(self).object ?? [:] }
}
