import DeliveryKit
import FHIRStage
import HealthModel
import HealthResources
import Testing

/// The bundle in which elements are sent.
@Suite struct FHIRTransactionTests {
    private let plain = FHIRForm(
        patients: PatientNames(.null), createsPatients: false,
        figures: [ResourceFigure(path: ["steps"], unit: "count")])

    private func bundle(_ transaction: FHIRTransaction) throws -> Value { try Value(json: transaction.body) }

    @Test func samplesAreUpdatedAndTombstonesDeletedByIdentifier() throws {
        let transaction = FHIRTransaction(samples([1, 2, 3], deleted: [1]), [0, 1], plain)
        let bundle = try bundle(transaction)
        #expect(transaction.methods == [.put, .delete])
        #expect(bundle["resourceType"] == "Bundle" && bundle["type"] == "transaction")
        let entries = try #require(bundle["entry"].array)
        let url = "Observation?identifier=urn:x-healthbus:sample%7Cme/0195e621-9c60-8abc-8000-00000000000"
        #expect(entries.map { $0["request"]["method"].string } == ["PUT", "DELETE"])
        #expect(entries.map { $0["request"]["url"].string } == [url + "0", url + "1"])
        #expect(
            entries.first?["resource"]["identifier"].array?.first?["value"]
                == "me/0195e621-9c60-8abc-8000-000000000000")
        #expect(entries.last?["resource"].isNull == true)
    }

    @Test func daysToo() throws {
        let group = days([("2025-03-30", 4, 7012), ("2025-03-31", 5, nil)])
        let entries = try #require(try bundle(FHIRTransaction(group, [0, 1], plain))["entry"].array)
        #expect(entries.first?["request"]["url"] == "Observation?identifier=urn:x-healthbus:day%7Cme/2025-03-30")
        let steps = entries.first?["resource"]["component"].array?.first?["valueQuantity"]
        #expect(steps?["value"] == 7012 && steps?["code"] == "{steps}")
        #expect(entries.last?["request"]["method"] == "DELETE")
    }

    /// A day that has lost its last figure is deleted: it must not stay as it was.
    @Test func aDayWithoutFiguresIsDeleted() throws {
        var form = plain
        form.figures = [ResourceFigure(path: ["flightsClimbed"], unit: "count")]
        let transaction = FHIRTransaction(days([("2025-03-30", 4, 7012)]), [0], form)
        let entry = try bundle(transaction)["entry"].array?.first
        #expect(transaction.methods == [.delete])
        #expect(entry?["request"]["method"] == "DELETE" && entry?["resource"].isNull == true)
    }

    /// With our own ids no search is needed, so two simultaneous requests can't create two resources.
    @Test func withIDsOfOursNothingIsSearchedFor() throws {
        var form = plain
        form.givesIDs = true
        let transaction = FHIRTransaction(samples([1, 2], deleted: [1]), [0, 1], form)
        let entries = try #require(try bundle(transaction)["entry"].array)
        let ids = transaction.identifiers.map { Observations.id($0) }
        #expect(Set(ids).count == 2)
        #expect(entries.map { $0["request"]["url"].string } == ids.map { "Observation/" + $0 })
        #expect(entries.map { $0["request"]["method"].string } == ["PUT", "DELETE"])
        #expect(entries.first?["resource"]["id"].string == ids.first)
        #expect(entries.first?["resource"]["identifier"].array?.first?["system"] == "urn:x-healthbus:sample")
        let day = try bundle(FHIRTransaction(days([("2025-03-30", 4, 7012)]), [0], form))["entry"].array?.first
        #expect(day?["request"]["url"].string == day?["resource"]["id"].string.map { "Observation/" + $0 })
        // A Patient that the server creates may have any id.
        form.createsPatients = true
        #expect(FHIRTransaction(samples([1]), [0], form).methods == [.createPatient, .put])
    }

    /// A blood pressure's panel says what its two samples say; where they were resources before, they go.
    @Test func aPartOfAPanelIsDeleted() throws {
        let group = samples([4], type: "HKQuantityTypeIdentifierBloodPressureSystolic", flags: .part)
        let transaction = FHIRTransaction(group, [0], plain)
        #expect(FHIRTransaction.has(0, of: group) && transaction.methods == [.delete])
        #expect(try plain.contentOf(group) == [nil])
        let alone = samples([4], type: "HKQuantityTypeIdentifierBloodPressureSystolic")
        #expect(FHIRTransaction(alone, [0], plain).methods == [.put])
        var form = plain
        form.createsPatients = true
        #expect(FHIRTransaction(group, [0], form).methods == [.delete])
    }

    /// Anything that was delivered in another form is delivered again, as by earlier releases, whose usual form was "".
    @Test func aFormIsRecognizedByItsText() {
        func text(_ options: Value) -> String { FHIRForm(options, figures: []).text }
        let all: [Value] = [
            [:], ["patients": ["me": "s|1"]], ["patients": ["me": "s|2"]], ["createPatients": true],
            ["ids": "client"], ["sources": true],
        ]
        #expect(Set(all.map(text)).count == all.count)
        #expect(!all.map(text).contains("") && text([:]).contains("\(Observations.revision)"))
        #expect(text(["ids": "server", "createPatients": false, "sources": false, "patients": [:]]) == text([:]))
    }

    @Test func aPatientIsMadeWhereThereIsNone() throws {
        var form = plain
        form.createsPatients = true
        form.patients = PatientNames(["me": "https://clinic.example/mrn|12"])
        let transaction = FHIRTransaction(samples([1]), [0], form)
        #expect(transaction.methods == [.createPatient, .put])
        let entries = try #require(try bundle(transaction)["entry"].array)
        #expect(
            entries.first?["request"]["ifNoneExist"] == "identifier=https://clinic.example/mrn%7C12")
        let patient: Value = ["system": "https://clinic.example/mrn", "value": "12"]
        #expect(entries.first?["resource"] == ["resourceType": "Patient", "identifier": [patient]])
        let subject = entries.last?["resource"]["subject"]
        #expect(subject?["reference"] == entries.first?["fullUrl"] && subject?["identifier"] == patient)
        // Nothing here should refer to a patient.
        #expect(FHIRTransaction(samples([1], deleted: [0]), [0], form).methods == [.delete])
    }
}
