import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Everything in an export's archive: ECGs, clinical records, attachments, and files that aren't read.
    @Suite struct DocumentTests {
        private static let ecg = "HKDataTypeIdentifierElectrocardiogram"

        private static func recording(_ hour: Int) -> String {
            """
            Name,Robin Example
            Geburtstag,"02.03.1990"
            Aufzeichnungsdatum,2025-03-30 0\(hour):15:00 +0200
            Klassifizierung,Sinusrhythmus
            Symptome,
            Softwareversion,2.0
            Gerät,"Watch6,1"
            Messrate,512 Hertz

            Ableitung,Ableitung I
            Einheit,µV

            -57,992
            \(hour)2,5
            """
        }

        private static let resource = #"{"resourceType":"Observation","id":"obs-1"}"#

        private static func document(_ date: String) -> String {
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <HealthData locale="de_DE">
             <ExportDate value="\(date) 09:00:00 +0200"/>
             <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Phone" unit="count" creationDate="2025-03-30 08:20:00 +0200" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:20:00 +0200" value="120"/>
             <ClinicalRecord type="Observation" identifier="obs-1" sourceName="Clinic" sourceURL="https://fhir.example/1" fhirVersion="4.0.1" receivedDate="2025-03-30 08:15:00 +0200" resourceFilePath="/clinical-records/Observation-A.json"/>
            </HealthData>
            """
        }

        private func write(_ stack: TestStack, _ name: String, hours: [Int], date: String) throws -> String {
            var entries = [
                "apple_health_export/export.xml": Self.document(date),
                "apple_health_export/export_cda.xml": "<?xml version=\"1.0\"?><ClinicalDocument/>",
                "apple_health_export/clinical-records/Observation-A.json": Self.resource,
                "apple_health_export/electrocardiograms/ecg_broken.csv": "Aufzeichnungsdatum,heute",
            ]
            if name == "newer.zip" { entries["apple_health_export/electrocardiograms/ecg_broken.csv"] = nil }
            for hour in hours {
                entries["apple_health_export/electrocardiograms/ecg_\(hour).csv"] = Self.recording(hour)
            }
            let path = stack.path(name)
            try Archive.write(entries, to: path)
            return path
        }

        @Test func allOfAnArchiveIsThereAndCounted() async throws {
            try await withStack { stack in
                let export = try write(stack, "export.zip", hours: [6, 8], date: "2025-04-05")
                let up = try await stack.upAndReady()
                let reported = try await stack.onState("import", export)
                #expect(reported.exit == .code(0), "\(reported.error)")
                #expect(
                    reported.output.contains(
                        "also: 2 ECGs, 1 clinical record, 1 document not read (export_cda.xml repeats the samples)"),
                    "\(reported.output)")
                // When the same export is imported again, everything is stored only once.
                let again = try await stack.onState("import", "--json", export).json()
                let report = try #require(again["files"].array?.first)
                #expect(report["electrocardiograms"] == 2 && report["clinicalRecords"] == 1, "\(report)")
                #expect(report["added"] == 0 && report["quarantined"] == 1 && report["byType"][Self.ecg]["known"] == 2)
                #expect(report["ignoredEntries"] == ["apple_health_export/export_cda.xml"])
                #expect(report["unread"].array?.first?["kind"] == "clinicalDocument")

                let list = try await stack.onState("documents", "--json").json().array ?? []
                #expect(
                    list.map(\.["kind"].string).sorted { ($0 ?? "") < ($1 ?? "") } == [
                        "clinicalRecord", "electrocardiogram", "electrocardiogram",
                    ])
                let record = try #require(list.first { $0["kind"] == "clinicalRecord" })
                #expect(record["reference"]["identifier"] == "obs-1" && record["mediaType"] == "application/fhir+json")
                let id = try #require(record["id"].int)
                let file = stack.path("observation.json")
                #expect(try await stack.onState("documents", "get", "\(id)", "-o", file).exit == .code(0))
                #expect(try String(contentsOfFile: file, encoding: .utf8) == Self.resource)
                #expect(try await stack.onState("documents", "get", "999", "-o", file).exit == .code(1))
                let check = try await stack.onState("check", "--json").json()
                #expect(check["documents"] == ["clinicalRecord": 1, "electrocardiogram": 2])

                // A complete export that lacks one recording removes it, and nothing else.
                let newer = try write(stack, "newer.zip", hours: [6], date: "2025-05-05")
                let complete = try await stack.onState(
                    "import", "--complete", "--delete-up-to", "60", "--json", newer
                ).json()
                let gone = try #require(complete["files"].array?.first)
                #expect(gone["deletedByAbsence"] == 1 && gone["refused"] == .null, "\(gone)")
                #expect(gone["byType"][Self.ecg]["deletedByAbsence"] == 1)
                _ = try await stack.interrupt(up)
                // A stopped stack lists them too.
                #expect(try await stack.onState("documents", "--json").json().array?.count == 3)
            }
        }
    }
}
