import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
const t0=performance.now();
const { compile } = await import('./index.ts');
const { collectionOf, columnOf, schemaOf, tableOf, typeOf } = await import('./testing/build-schema.ts');
console.log('import',performance.now()-t0);
const t='/work/main/templates';
const templates=new Map(readdirSync(t).map(n=>[n,readFileSync(join(t,n),'utf8')]));
const int=typeOf('int4','integer'), text=typeOf('text','text');
const N=200;
const tables=Array.from({length:N},(_,i)=>tableOf(`table_${String.fromCharCode(97+i%26)}${i}`,[columnOf('id',int,{nullable:false}),...Array.from({length:11},(_,k)=>columnOf(`column_${String.fromCharCode(97+k)}`,k%2?int:text)),columnOf('parent_id',int)]));
const cols=tables.map((x,i)=>{const y=tables[(i+1)%N]!,z=tables[(i+N-1)%N]!;return collectionOf(x,[{kind:'m2o',name:'parent_id',target:y.name,foreignKey:'f',on:[{from:'parent_id',to:'id'}],field:'parent_id',nullable:true},{kind:'o2m',name:z.name,target:z.name,on:[{from:'id',to:'parent_id'}],inverse:'parent_id',single:false,sort:null,onDeselect:'nullify',language:null}])});
const schema=schemaOf(tables,cols);
for(let i=0;i<3;i++){const t1=performance.now();const r=compile(schema,{templates});console.log(r.summary.files,performance.now()-t1, r.files.reduce((a,f)=>a+f.contents.length,0));}
const { compileTemplates } = await import('./emit/templates.ts'); const { resolveApi } = await import('./passes/resolve-api.ts'); const {emitOpenApi}=await import('./openapi/index.ts'); const {printJson}=await import('./print/json.ts');
let t1=performance.now(); const api=resolveApi(schema); console.log('api',performance.now()-t1); t1=performance.now(); const o=emitOpenApi(api,null); console.log('oas',performance.now()-t1); t1=performance.now(); console.log(printJson(o).length, performance.now()-t1);
void compileTemplates;
